{#
    The batch of an incremental run: what the model's SELECT gives, or a table of it where
    evaluating it more than once would be dear. {from, staging, source_columns, columns, rows,
    bounds}; `from` is what the batch is read from, the SELECT in parentheses or the table; columns
    are those to write, {name, type, source, source_type}; rows and null_rows (with a NULL in their
    key) are none where they were not counted.
#}

{# Reads the SELECT more than once: the check before the write, and Delta's MERGE twice or thrice. #}
{% macro _reads_batch_twice(target, settings) -%}
    {{- return(
        dbt_delta._checks_batch(settings)
        or settings.strategy in ('merge', 'delete+insert')
        or (settings.strategy == 'insert_overwrite' and target.clustering | length > 0)
    ) -}}
{%- endmacro %}

{% macro _checks_batch(settings) -%}
    {{- return(
        settings.duplicate_keys == 'error'
        or settings.null_keys == 'error'
        or (settings.strategy in ('merge', 'delete+insert') and settings.unique_key | length > 0)
        or (settings.strategy == 'replace_where' and settings.predicates | length > 0)
    ) -}}
{%- endmacro %}

{% macro _is_staged(target, sql, settings) -%}
    {#- What a Python model gave is a table already. -#}
    {%- if model.language == 'python' -%}{{- return(false) -}}{%- endif -%}
    {%- if settings.stage != 'auto' -%}{{- return(settings.stage == 'table') -}}{%- endif -%}
    {{- return(
        dbt_delta._reads_batch_twice(target, settings) and dbt_delta._is_dear(sql, model.depends_on.nodes)
    ) -}}
{%- endmacro %}

{#
    Whether a SELECT does more than scan, filter and project: then one evaluation costs more than
    writing its result down. Looks through the views that the model reads. What gives another
    result each time is dear as well: all steps must see one batch.
#}
{% macro _is_dear(sql, upstream=[]) -%}
    {%- set work = '\\b(join|group\\s+by|distinct|over|union(?!\\s+all\\b)|intersect|except(?!\\s*\\()|having|lateral'
        ~ '|explode\\w*|posexplode\\w*|inline|stack|rand|randn|uuid|shuffle|current_timestamp|now'
        ~ '|regexp\\w*|rlike|from_json|from_csv|sha\\d*|md5)\\b' -%}
    {%- set text = modules.re.sub("(?s)--[^\n]*|/\\*.*?\\*/|'(?:[^'\\\\]|\\\\.)*'", ' ', sql) -%}
    {%- if modules.re.search('(?i)' ~ work, text) -%}{{- return(true) -}}{%- endif -%}
    {%- for id in upstream -%}
        {%- set node = graph.nodes.get(id) -%}
        {%- if node and node.config.materialized == 'view'
            and dbt_delta._is_dear(node.raw_code, node.depends_on.nodes) -%}
            {{- return(true) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# Of several rows with one key the first in the given order. #}
{% macro get_latest_sql(sql, unique_key, order_by) -%}
select * except (__dbt_rank)
from (
    select
        *,
        row_number() over (
            partition by {{ dbt_delta._quoted_list(unique_key) }}
            order by {{ order_by }}
        ) as __dbt_rank
    from (
        {{ sql }}
    ) as __dbt_model
) as __dbt_ranked
where __dbt_rank = 1
{%- endmacro %}

{# One row: the batch's columns as a struct type. Plans only: nothing of the batch is read. #}
{% macro get_batch_columns_sql(from) -%}
select typeof(struct(batch.*)) as columns
from (select 1) as one
left join {{ from }} as batch on false
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
    {%- for key in bounded %},
    cast(min({{ key.expression }}) as string) as low_{{ loop.index0 }},
    cast(max({{ key.expression }}) as string) as high_{{ loop.index0 }},
    count_if({{ key.expression }} is null) as nulls_{{ loop.index0 }},
    {{ "to_json(slice(array_sort(collect_set(cast(" ~ key.expression ~ " as string))), 1, 101))"
        if key.is_partition else 'null' }} as values_{{ loop.index0 }}
    {%- endfor %}
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

{#
    Key columns of the target by which files can be skipped: type of both sides known to order
    alike in Spark and in Delta's statistics. Floating point and collated text do not.
#}
{% macro _bounded_keys(target, settings) -%}
    {%- set bounded = [] -%}
    {%- set prune = settings.prune -%}
    {%- set ordered = '(tinyint|smallint|int|bigint|date|timestamp|timestamp_ntz|string|decimal\\(.*)$' -%}
    {%- if prune == 'off' or settings.by_source_action
        or settings.strategy not in ('merge', 'delete+insert') -%}
        {{- return(bounded) -}}
    {%- endif -%}
    {%- for key in settings.unique_key -%}
        {%- set column = dbt_delta._column(target.columns, key) -%}
        {%- if column is none -%}
            {%- do dbt_delta._refuse(
                "unique_key '" ~ key ~ "' is not a column of " ~ target.name ~ '. Its columns are '
                ~ target.columns | map(attribute='name') | join(', ') ~ '.'
            ) -%}
        {%- endif -%}
        {%- if (prune is string or key | lower in prune | map('lower') | list)
            and modules.re.match(ordered, column.type) -%}
            {%- set name = dbt_delta._quoted(key) -%}
            {%- do bounded.append({
                'name': column.name,
                'type': column.type,
                'expression': 'unix_micros(try_cast(' ~ name ~ ' as timestamp))'
                    if column.type == 'timestamp' else name,
                'is_partition': column.name in target.partitions and column.type != 'timestamp',
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(bounded) -}}
{%- endmacro %}

{# What the check found about the bounded keys, as SQL literals; none for types that differ. #}
{% macro _found_bounds(bounded, found, source_columns) -%}
    {%- set bounds = [] -%}
    {%- set whole = ['tinyint', 'smallint', 'int', 'bigint'] -%}
    {%- for key in bounded -%}
        {%- set source = dbt_delta._column(source_columns, key.name) -%}
        {%- if source.type == key.type or (source.type in whole and key.type in whole) -%}
            {%- set n = loop.index0 | string -%}
            {%- set values = fromjson(found['values_' ~ n] or '[]', []) -%}
            {%- set literals = [] -%}
            {%- for value in values -%}
                {%- do literals.append(dbt_delta._bound_literal(value, source.type)) -%}
            {%- endfor -%}
            {%- set low = found['low_' ~ n] -%}
            {%- do bounds.append({
                'name': key.name,
                'nulls': found['nulls_' ~ n] | int > 0,
                'values': literals if values | length <= 100 else [],
                'low': none if low is none else dbt_delta._bound_literal(low, source.type),
                'high': none if low is none else dbt_delta._bound_literal(found['high_' ~ n], source.type),
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(bounds) -}}
{%- endmacro %}

{% macro _bound_literal(text, type) -%}
    {%- if type == 'timestamp' -%}{{- return('timestamp_micros(' ~ text ~ ')') -}}
    {%- elif type in ('date', 'timestamp_ntz') -%}{{- return(type ~ "'" ~ text ~ "'") -}}
    {%- elif type == 'string' -%}{{- return(dbt_delta._literal(text)) -}}
    {%- endif -%}
    {{- return('cast(' ~ text ~ ' as ' ~ type ~ ')') -}}
{%- endmacro %}

{# The bounds of the batch as conditions on the columns of `alias`. #}
{% macro _bounds(target, batch, settings, alias) -%}
    {%- set conditions = [] -%}
    {%- for bound in batch.bounds -%}
        {%- do conditions.append(dbt_delta._bound(bound, alias ~ '.' ~ dbt_delta._quoted(bound.name))) -%}
    {%- endfor -%}
    {{- return(conditions) -}}
{%- endmacro %}

{% macro _bound(bound, column) -%}
    {%- set options = [] -%}
    {%- if bound.nulls -%}{%- do options.append(column ~ ' is null') -%}{%- endif -%}
    {%- if bound['values'] -%}
        {%- do options.append(column ~ ' in (' ~ bound['values'] | join(', ') ~ ')') -%}
    {%- elif bound.low is not none -%}
        {%- set range = column ~ ' >= ' ~ bound.low ~ ' and ' ~ column ~ ' <= ' ~ bound.high -%}
        {%- do options.append('(' ~ range ~ ')' if bound.nulls else range) -%}
    {%- endif -%}
    {{- return('(' ~ options | join(' or ') ~ ')' if options | length > 1 else options[0]) -}}
{%- endmacro %}

{#
    The values to insert; of a batch that is a view, keys are checked against the bounds found
    before. A row that came in between might have a match that the bounds hide.
#}
{% macro _guarded(values, names, target, batch, settings, alias) -%}
    {%- if batch.staging is not none -%}{{- return(values) -}}{%- endif -%}
    {%- set guarded = [] -%}
    {%- for value in values -%}
        {%- set guard = namespace(value=value) -%}
        {%- set name = names[loop.index0] -%}
        {%- for bound in batch.bounds if dbt_delta._quoted(bound.name) == name -%}
            {%- set guard.value = 'if(' ~ dbt_delta._bound(bound, value) ~ ', ' ~ value ~ ', raise_error('
                ~ dbt_delta._literal(
                    'The source of ' ~ target.name ~ ' changed while it was merged; nothing was written. '
                    ~ "Run the model again, or set stage: table."
                ) ~ '))' -%}
        {%- endfor -%}
        {%- do guarded.append(guard.value) -%}
    {%- endfor -%}
    {{- return(guarded) -}}
{%- endmacro %}

{#
    Stages the batch and looks at it: its columns, what they ask of the table, and its keys.
    Refuses what must not be written, before anything is.
#}
{% macro _stage(target, sql, settings, layout, bounded) -%}
    {%- set select = '(\n' ~ sql ~ ')' -%}
    {%- set batch = {'from': select, 'staging': none, 'bounds': [], 'rows': none, 'null_rows': none, 'changes': []} -%}
    {%- set checked = dbt_delta._checks_batch(settings) and settings.unique_key | length > 0 -%}
    {%- set staged = dbt_delta._is_staged(target, sql, settings) -%}
    {%- set found = none -%}
    {%- set columns = none -%}
    {%- if checked and not staged -%}
        {%- set found = run_query(dbt_delta.get_batch_check_sql(select, settings, bounded)).rows[0] -%}
        {%- do batch.update({'rows': found['row_count'] | int}) -%}
        {%- set columns = found['columns'] -%}
        {%- if columns is none and dbt_delta._is_settled(batch, settings) -%}
            {{- return(batch) -}}
        {%- endif -%}
    {%- endif -%}
    {%- if columns is none -%}
        {%- set columns = run_query(dbt_delta.get_batch_columns_sql(select)).rows[0]['columns'] -%}
    {%- endif -%}
    {%- do dbt_delta._plan_columns(batch, dbt_delta._struct_fields(columns), target, settings, layout, sql) -%}
    {%- if staged -%}
        {%- set staging = dbt_delta._beside(this, 'tmp') -%}
        {%- do batch.update({'from': dbt_delta._named(staging), 'staging': staging}) -%}
        {%- do dbt_delta._drop_leftovers(this) -%}
        {%- do run_query(dbt_delta.get_create_staging_sql(
            batch.from, dbt_delta.get_staged_columns_sql(select, batch.source_columns)
        )) -%}
        {%- if checked -%}
            {%- set found = run_query(
                dbt_delta.get_batch_check_sql(batch.from, settings, bounded, columns=false)
            ).rows[0] -%}
        {%- endif -%}
    {%- endif -%}
    {%- if checked -%}
        {%- do dbt_delta._check_keys(target, batch, settings, found) -%}
        {%- do batch.update({
            'rows': found['row_count'] | int,
            'null_rows': found['null_rows'] | int,
            'bounds': dbt_delta._found_bounds(bounded, found, batch.source_columns),
        }) -%}
    {%- endif -%}
    {%- if settings.strategy == 'replace_where' and settings.predicates -%}
        {%- do dbt_delta._check_predicate(target, batch, settings) -%}
    {%- endif -%}
    {{- return(batch) -}}
{%- endmacro %}

{# Whether nothing is left to ask of an empty batch: its columns cannot change the table. #}
{% macro _is_settled(batch, settings) -%}
    {{- return(
        dbt_delta._is_empty(batch, settings)
        and settings.on_schema_change == 'ignore'
        and not config.get('contract', {}).enforced
    ) -}}
{%- endmacro %}

{# Whether the batch has no row, and its strategy does nothing without. #}
{% macro _is_empty(batch, settings) -%}
    {{- return(
        batch.rows == 0 and settings.strategy in ('merge', 'delete+insert') and not settings.by_source_action
    ) -}}
{%- endmacro %}

{# Which columns are written, from what, and what must change in the table first. #}
{% macro _plan_columns(batch, source_columns, target, settings, layout, sql) -%}
    {%- do dbt_delta._check_contract(source_columns, sql) -%}
    {%- set changes = dbt_delta._schema_changes(source_columns, target, settings, layout) -%}
    {%- set after = dbt_delta._columns_after(source_columns, target.columns, settings.on_schema_change) -%}
    {%- set columns = [] -%}
    {%- for source in source_columns -%}
        {%- set column = dbt_delta._column(after, source.name) -%}
        {%- if settings.strategy == 'merge' and settings.schema_evolution -%}
            {#- The MERGE itself brings new columns and fields into the table. -#}
            {%- set column = {'name': (column or source).name, 'type': source.type} -%}
        {%- endif -%}
        {%- if column is not none -%}
            {%- do columns.append({
                'name': column.name, 'type': column.type,
                'source': source.name, 'source_type': source.type,
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name in settings.unique_key + (settings.update_columns if settings.strategy == 'merge' else [])
        if dbt_delta._column(columns, name) is none -%}
        {%- do dbt_delta._refuse(
            "The model gives no column '" ~ name ~ "' to write, which "
            ~ ('unique_key' if name in settings.unique_key else 'merge_update_columns')
            ~ ' names. Its columns are ' ~ source_columns | map(attribute='name') | join(', ') ~ '.'
        ) -%}
    {%- endfor -%}
    {%- do batch.update({
        'source_columns': source_columns, 'columns': columns,
        'target_columns': after, 'changes': changes,
    }) -%}
{%- endmacro %}

{# An enforced contract by the columns that are known already; dbt's own check prints the table. #}
{% macro _check_contract(source_columns, sql) -%}
    {%- if not config.get('contract', {}).enforced -%}{{- return(none) -}}{%- endif -%}
    {%- set synonyms = {
        'integer': 'int', 'long': 'bigint', 'short': 'smallint', 'byte': 'tinyint', 'real': 'float',
        'numeric': 'decimal(10,0)', 'decimal': 'decimal(10,0)', 'dec': 'decimal(10,0)',
    } -%}
    {%- set same = namespace(so=source_columns | length == model.columns | length) -%}
    {%- for column in model.columns.values() -%}
        {%- set found = dbt_delta._column(source_columns, column.name) -%}
        {%- set type = (column.data_type or '') | lower | replace(' ', '') -%}
        {%- if found is none or found.type | replace(' ', '') != synonyms.get(type, type) -%}
            {%- set same.so = false -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not same.so -%}{{ get_assert_columns_equivalent(sql) }}{%- endif -%}
{%- endmacro %}

{#- Column mapping lets the names of columns hold blanks and the like. -#}
{% macro get_create_staging_sql(name, sql) -%}
create or replace table {{ name }}
using delta
tblproperties ('delta.columnMapping.mode' = 'name')
as
{{ sql }}
{%- endmacro %}

{# A column without a type cannot be stored: it holds NULLs only. #}
{% macro get_staged_columns_sql(from, columns) -%}
    {%- set texts = [] -%}
    {%- for column in columns -%}
        {%- set quoted = dbt_delta._quoted(column.name) -%}
        {%- do texts.append(
            'cast(null as string) as ' ~ quoted if column.type == 'void' else quoted
        ) -%}
    {%- endfor -%}
select {{ texts | join(', ') }} from {{ from }} as batch
{%- endmacro %}

{# Whether writing the batch would change nothing: it is empty, or all of it is there. #}
{% macro _is_nothing(target, batch, settings) -%}
    {%- if settings.strategy in ('merge', 'delete+insert') -%}
        {{- return(dbt_delta._is_empty(batch, settings) or not dbt_delta._has_clause(batch, settings)) -}}
    {%- endif -%}
    {%- set replaced = dbt_delta._replaced(target, batch, settings) -%}
    {%- if not settings.skip_unchanged or replaced is none -%}{{- return(false) -}}{%- endif -%}
    {{- return(run_query(dbt_delta.get_first_difference_sql(target, batch, replaced)).rows | length == 0) -}}
{%- endmacro %}

{# Whether a merge has a clause: without one, as when nothing is left to update, Spark refuses it. #}
{% macro _has_clause(batch, settings) -%}
    {%- if settings.strategy != 'merge' or not settings.skip_not_matched or settings.by_source_action -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- set updated = [] -%}
    {%- for column in batch.columns if dbt_delta._is_updated(column.name, settings) -%}
        {%- do updated.append(column.name) -%}
    {%- endfor -%}
    {{- return(settings.unique_key and updated and not settings.skip_matched) -}}
{%- endmacro %}

{# The condition of the rows that the write replaces; none where it replaces none. #}
{% macro _replaced(target, batch, settings) -%}
    {%- if settings.strategy == 'insert_overwrite' and not target.clustering -%}
        {%- set partitions = dbt_delta._quoted_list(target.partitions) -%}
        {{- return(
            '(' ~ partitions ~ ') in (select ' ~ partitions ~ ' from ' ~ batch.from ~ ')'
            if target.partitions else 'true'
        ) -}}
    {%- endif -%}
    {%- set window = dbt_delta._window(target) if settings.strategy == 'microbatch' else [] -%}
    {%- set conditions = window + settings.predicates
        if settings.strategy in ('replace_where', 'microbatch') else [] -%}
    {{- return(dbt_delta._all_of(conditions) or none) -}}
{%- endmacro %}

{# A row if the batch and the rows that it would replace are not the same, counting duplicates. #}
{% macro get_first_difference_sql(target, batch, replaced) -%}
{%- set compared, names = [], [] -%}
{%- for column in batch.target_columns -%}
    {%- do compared.append(
        dbt_delta._comparable(dbt_delta._quoted(column.name), column.type) ~ ' as c' ~ loop.index
    ) -%}
    {%- do names.append('c' ~ loop.index) -%}
{%- endfor -%}
select 1 as differs
from (
    select {{ compared | join(', ') }}, 1 as side
    from (select {{ dbt_delta._all_columns(batch, casts=true) | join(', ') }} from {{ batch.from }}) as batch
    union all
    select {{ compared | join(', ') }}, -1 as side
    from {{ target.name }}
    where {{ replaced }}
) as both_sides
group by {{ names | join(', ') }}
having sum(side) != 0
limit 1
{%- endmacro %}

{% macro get_write_sql(target, batch, settings) -%}
    {%- set strategy = settings.strategy | replace('+', '_') -%}
    {%- if settings.strategy in dbt_delta._strategies() -%}
        {{- return(dbt_delta['get_' ~ strategy ~ '_sql'](target, batch, settings)) -}}
    {%- endif -%}
    {%- set temporary = batch.staging -%}
    {%- if temporary is none -%}
        {%- set temporary = api.Relation.create(
            identifier=dbt_delta._beside(this, 'tmp').identifier ~ '_view', type='view'
        ) -%}
        {%- do run_query(
            'create or replace temporary view ' ~ dbt_delta._quoted(temporary.identifier)
            ~ ' as\nselect * from ' ~ batch.from
        ) -%}
    {%- endif -%}
    {{- return(context['get_incremental_' ~ strategy ~ '_sql']({
        'target_relation': this,
        'temp_relation': temporary,
        'unique_key': config.get('unique_key'),
        'dest_columns': adapter.get_columns_in_relation(this),
        'incremental_predicates': config.get('predicates') or config.get('incremental_predicates'),
    })) -}}
{%- endmacro %}

{#
    Differences between configuration and table that only a rebuild can settle; and what dbt refuses
    of a merge, but not of the first build.
#}
{% macro _validate_target(target, settings, layout) -%}
    {%- if settings.strategy == 'merge' and settings.update_columns and settings.exclude_columns -%}
        {%- do dbt_delta._refuse(
            'Model cannot specify merge_update_columns and merge_exclude_columns. '
            ~ 'Please update model to use only one config'
        ) -%}
    {%- endif -%}
    {%- if settings.strategy == 'insert_overwrite'
        and layout.partitions | map('lower') | list != target.partitions | map('lower') | list -%}
        {%- do dbt_delta._refuse(
            'partition_by is ' ~ layout.partitions ~ ' and ' ~ target.name ~ ' is partitioned by '
            ~ target.partitions ~ ': insert_overwrite would replace other rows than meant. '
            ~ 'Nothing was written. Rebuild with --full-refresh, or set partition_by to what the table has.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Deletion vectors for tables whose rows are replaced one by one: a change then writes the rows
    that changed, not the files they are in.
#}
{% macro _default_properties(settings, layout) -%}
    {%- if settings.strategy in ('merge', 'delete+insert')
        or (settings.strategy == 'insert_overwrite' and layout.clustering) -%}
        {{- return({'delta.enableDeletionVectors': 'true'}) -}}
    {%- endif -%}
    {{- return({}) -}}
{%- endmacro %}
