{% macro _checks_batch(settings) -%}
    {{- return(
        settings.duplicate_keys == 'error'
        or settings.null_keys == 'error'
        or (settings.strategy in ('merge', 'delete+insert') and settings.unique_key | length > 0)
        or (settings.strategy == 'replace_where' and settings.predicates | length > 0)
    ) -}}
{%- endmacro %}

{#
    One row about the batch: row_count, duplicate_keys, null_rows, for each bounded key low_N, high_N,
    nulls_N, values_N, and lost_N: what the Nth of `losses` counts.
#}
{% macro get_batch_check_sql(from, settings, bounded, losses=[]) -%}
{%- set keys, is_null = [], [] -%}
{%- for key in settings.unique_key -%}
    {%- do keys.append(dbt_delta._quoted(key)) -%}
    {%- do is_null.append(dbt_delta._quoted(key) ~ ' is null') -%}
{%- endfor -%}
select
    coalesce(sum(__dbt_rows), 0) as row_count,
    count_if(__dbt_rows > 1) as duplicate_keys,
    coalesce(sum(case when {{ is_null | join(' or ') }} then __dbt_rows end), 0) as null_rows
    {{- dbt_delta._bound_values(bounded) }}
    {%- for loss in losses %},
    {{ loss.count }} as lost_{{ loop.index0 }}
    {%- endfor %}
from (
    select
        {{ keys | join(', ') }},
        count(*) as __dbt_rows
    from {{ from }} as batch
    group by {{ keys | join(', ') }}
) as __dbt_keys
{%- endmacro %}

{# Refuses a condition of the configuration that Spark cannot read, by the name of its config. #}
{% macro _check_conditions(target, batch, settings) -%}
    {%- if adapter.dbt_delta_problem is not defined -%}{{- return(none) -}}{%- endif -%}
    {%- set of_table, added = target.name ~ dbt_delta._as_dest(settings), [] -%}
    {%- for change in batch.changes if change.kind == 'add' -%}
        {%- if change.path | length > 1 -%}{{- return(none) -}}{%- endif -%}
        {%- do added.append(
            'cast(null as ' ~ dbt_delta._stored_type(change.type) ~ ') as ' ~ dbt_delta._quoted(change.path[0])
        ) -%}
    {%- endfor -%}
    {%- if added -%}
        {#- A condition may name what a schema change is about to add. -#}
        {%- set of_table = '(select *, ' ~ added | join(', ') ~ ' from ' ~ target.name ~ ')'
            ~ dbt_delta._as_dest(settings) -%}
    {%- endif -%}
    {%- set of_both = of_table ~ ' cross join ' ~ batch.from ~ ' as ' ~ settings.source_alias -%}
    {%- set is_merge = settings.strategy == 'merge' -%}
    {%- for from, name, condition in [
        (of_both, 'matched_delete_condition', settings.delete_condition),
        (of_both, 'matched_condition', settings.matched_condition if is_merge else none),
        (of_both, 'not_matched_condition', settings.not_matched_condition if is_merge else none),
        (of_table, 'not_matched_by_source_condition', settings.by_source_condition if is_merge else none),
        (
            of_both if is_merge else batch.from ~ ' as batch' if settings.predicates_limit_batch
                and settings.strategy == 'delete+insert' else of_table,
            'incremental_predicates',
            dbt_delta._all_of(settings.predicates) if settings.strategy in dbt_delta._strategies() else none,
        ),
    ] if condition -%}
        {%- set problem = adapter.dbt_delta_problem(
            'select (' ~ condition ~ ') as is_so from ' ~ from
        ) -%}
        {%- if problem -%}
            {%- do dbt_delta._refuse(
                name ~ ' of ' ~ target.name ~ ' is ' ~ condition ~ ', and Spark says: ' ~ problem
                ~ ' Nothing was written.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# Refuses rows that a replace_where would write outside of what it replaces. #}
{% macro _check_predicate(target, batch, predicates) -%}
    {%- set predicate = dbt_delta._all_of(predicates) -%}
    {%- set outside = run_query(
        'select count(*) as row_count, count_if(__dbt_inside is not true) as outside from (select ('
        ~ predicate ~ ') as __dbt_inside from ' ~ batch.from ~ ') as __dbt_batch'
    ).rows[0] -%}
    {%- do batch.update({'rows': outside['row_count'] | int}) -%}
    {%- if outside['outside'] | int > 0 -%}
        {%- do dbt_delta._refuse_batch(
            batch,
            outside['outside'] | int ~ ' of ' ~ outside['row_count'] | int ~ ' rows of the batch for '
            ~ target.name ~ ' are outside of what is replaced, ' ~ predicate
            ~ '. Nothing was written. Filter the model by the same condition, or widen incremental_predicates.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# Stops the model, and leaves nothing of its batch behind. #}
{% macro _refuse_batch(batch, text) -%}
    {%- if batch.get('staging') is not none -%}{%- do dbt_delta._drop(batch.staging) -%}{%- endif -%}
    {%- do dbt_delta._refuse(text) -%}
{%- endmacro %}
