{% macro _checks_batch(settings) -%}
    {{- return(
        settings.duplicate_keys == 'error'
        or settings.null_keys == 'error'
        or (settings.strategy in ('merge', 'delete+insert') and settings.unique_key | length > 0)
        or (settings.strategy == 'replace_where' and settings.predicates | length > 0)
    ) -}}
{%- endmacro %}

{#
    One row about the batch: columns (a struct type; none of an empty batch), row_count,
    duplicate_keys, null_rows, and for each bounded key low_N, high_N, nulls_N, values_N.
#}
{% macro get_batch_check_sql(from, settings, bounded, columns=true) -%}
{%- set keys, is_null = [], [] -%}
{%- for key in settings.unique_key -%}
    {%- do keys.append(dbt_delta._quoted(key)) -%}
    {%- do is_null.append(dbt_delta._quoted(key) ~ ' is null') -%}
{%- endfor -%}
select
    {%- if columns %}
    max(__dbt_columns) as columns,
    {%- endif %}
    coalesce(sum(__dbt_rows), 0) as row_count,
    count_if(__dbt_rows > 1) as duplicate_keys,
    coalesce(sum(case when {{ is_null | join(' or ') }} then __dbt_rows end), 0) as null_rows
    {{- dbt_delta._bound_values(bounded) }}
from (
    select
        {{ keys | join(', ') }},
        {%- if columns %}
        max(typeof(struct(batch.*))) as __dbt_columns,
        {%- endif %}
        count(*) as __dbt_rows
    from {{ from }} as batch
    group by {{ keys | join(', ') }}
) as __dbt_keys
{%- endmacro %}

{# Refuses a batch whose keys are not what the configuration says, naming the first five. #}
{% macro _check_keys(target, batch, settings, found, is_build=false) -%}
    {%- set keys = settings.unique_key -%}
    {%- set refuse_duplicates = settings.duplicate_keys == 'error'
        or (settings.strategy == 'merge' and settings.duplicate_keys is none and not is_build) -%}
    {%- if settings.null_keys == 'error' and found['null_rows'] | int > 0 -%}
        {%- do dbt_delta._refuse_keys(
            target, batch, keys, found['null_rows'] | int, 'null keys',
            where=dbt_delta._null_condition(keys),
            way_out="Filter them out, or set null_keys: match, by which NULL is a key like any other."
        ) -%}
    {%- elif refuse_duplicates and found['duplicate_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_keys(
            target, batch, keys, found['duplicate_keys'] | int, 'duplicate keys',
            having='having count(*) > 1',
            way_out='Make the model give one row per key, or set duplicate_keys: latest with '
                ~ 'duplicate_keys_order_by.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{% macro _null_condition(keys) -%}
    {%- set conditions = [] -%}
    {%- for key in keys -%}{%- do conditions.append(dbt_delta._quoted(key) ~ ' is null') -%}{%- endfor -%}
    {{- return('where ' ~ conditions | join(' or ')) -}}
{%- endmacro %}

{% macro _refuse_keys(target, batch, keys, total, problem, way_out, where='', having='') -%}
    {%- set list = dbt_delta._quoted_list(keys) -%}
    {%- set rows = run_query(
        'select to_json(struct(' ~ list ~ "), map('ignoreNullFields', 'false')) as key, count(*) as row_count from "
        ~ batch.from ~ ' ' ~ where ~ ' group by ' ~ list ~ ' ' ~ having ~ ' order by ' ~ list ~ ' limit 5'
    ).rows -%}
    {%- set examples = [] -%}
    {%- for row in rows -%}
        {%- do examples.append(row['key'] ~ ' (' ~ row['row_count'] | int ~ ' rows)') -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_batch(
        batch,
        'The batch for ' ~ target.name ~ ' has ' ~ problem ~ ' of unique_key ' ~ keys | join(', ')
        ~ ': ' ~ total ~ ', the first ' ~ examples | join(', ') ~ '. Nothing was written. ' ~ way_out
    ) -%}
{%- endmacro %}

{# Refuses rows that a replace_where would write outside of what it replaces. #}
{% macro _check_predicate(target, batch, settings) -%}
    {%- set predicate = dbt_delta._all_of(settings.predicates) -%}
    {%- set outside = run_query(
        'select count(*) as row_count, count_if(__dbt_inside is not true) as outside from (select ('
        ~ predicate ~ ') as __dbt_inside from ' ~ batch.from ~ ') as __dbt_batch'
    ).rows[0] -%}
    {%- if outside['outside'] | int > 0 -%}
        {%- do dbt_delta._refuse_batch(
            batch,
            outside['outside'] | int ~ ' of ' ~ outside['row_count'] | int ~ ' rows of the batch for '
            ~ target.name ~ ' are outside of what is replaced, ' ~ predicate
            ~ '. Nothing was written. Filter the model by the same condition, or widen incremental_predicates.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Fails for a value that the table's column cannot hold while the table is as it was: where its
    columns are to be changed first, the write itself would fail too late.
#}
{% macro _check_values(batch) -%}
    {%- if not batch.changes -%}{{- return(none) -}}{%- endif -%}
    {%- set values = [] -%}
    {%- for column in batch['columns'] if not dbt_delta._fits(column.source_type, column.type) -%}
        {%- do values.append(dbt_delta._comparable(
            'cast(' ~ dbt_delta._value(column) ~ ' as ' ~ column.type ~ ')', column.type
        )) -%}
    {%- endfor -%}
    {%- if values -%}
        {%- do run_query('select max(xxhash64(' ~ values | join(', ') ~ ')) from ' ~ batch.from ~ ' as batch') -%}
    {%- endif -%}
{%- endmacro %}

{# Stops the model, and leaves nothing of its batch behind. #}
{% macro _refuse_batch(batch, text) -%}
    {%- if batch.staging is not none -%}{%- do dbt_delta._drop(batch.staging) -%}{%- endif -%}
    {%- do dbt_delta._refuse(text) -%}
{%- endmacro %}
