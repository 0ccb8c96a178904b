{#
    Iceberg has no constraints. The constraints of a model are properties of its table, and each of our writes checks its
    rows itself; what others write is not checked.
#}

{# The checks that a table has once it follows the layout, as name: expression. #}
{% macro _iceberg__own_checks(existing, layout) -%}
    {%- set checks = dict(layout.checks) if layout is not none else {} -%}
    {%- set surplus = dbt_delta._surplus_checks(existing, layout) if layout is not none else [] -%}
    {%- for name in dbt_delta._constraint_names(existing.properties) if name not in surplus -%}
        {%- do checks.setdefault(name, dbt_delta._constraint(existing.properties, name)) -%}
    {%- endfor -%}
    {%- for column in existing.columns if column.nullable is false -%}
        {%- do checks.setdefault(
            dbt_delta._check_name('not_null', column.name), dbt_delta._quoted(column.name) ~ ' is not null'
        ) -%}
    {%- endfor -%}
    {{- return(checks) -}}
{%- endmacro %}

{# The name of a check that a row violates, or NULL. #}
{% macro _iceberg__broken(checks) -%}
    {%- set cases = [] -%}
    {%- for name, expression in checks.items() -%}
        {%- set text = dbt_delta._literal(name ~ ': ' ~ expression) -%}
        {%- do cases.append('when (' ~ expression ~ ') is not true then ' ~ text) -%}
    {%- endfor -%}
    {{- return('case ' ~ cases | join(' ') ~ ' end' if cases else 'cast(null as string)') -}}
{%- endmacro %}

{% macro _iceberg__stop(table, broken) -%}
    {{- return(
        'raise_error(concat(' ~ dbt_delta._literal('Nothing was written. A row of the batch for ' ~ table.name ~ ' violates ')
        ~ ', ' ~ broken ~ '))'
    ) -}}
{%- endmacro %}

{# A SELECT of rows to write that fails for one that violates a check. Columns that a batch lacks will be NULL. #}
{% macro _iceberg__checked_sql(table, sql, batch=none) -%}
    {%- if not table.checks -%}{{- return(sql) -}}{%- endif -%}
    {%- set broken, nulls, names = dbt_delta._iceberg__broken(table.checks), [], [] -%}
    {%- for column in (dbt_delta._missing_columns(batch) if batch is not none else []) -%}
        {%- do names.append(dbt_delta._quoted(column.name)) -%}
        {%- do nulls.append(', cast(null as ' ~ column.type ~ ') as ' ~ names[-1]) -%}
    {%- endfor -%}
    {{- return(
        'select ' ~ ('* except (' ~ names | join(', ') ~ ')' if names else '*') ~ '\nfrom (\nselect *' ~ nulls | join('')
        ~ ' from (\n' ~ sql ~ '\n)\n) as checked\nwhere if(' ~ broken ~ ' is null, true, '
        ~ dbt_delta._iceberg__stop(table, broken) ~ ')'
    ) -}}
{%- endmacro %}

{#
    The batch for FROM, with __dbt_broken: what a row of it violates, as the table would store it. A MERGE does not write
    each row, so the write fails only for one that it does.
#}
{% macro _iceberg__checked_source(table, batch, from) -%}
    {%- if not table.checks -%}{{- return(from) -}}{%- endif -%}
    {{- return(
        '(\n    select batch.*, __dbt_checked.__dbt_broken\n    from ' ~ from ~ ' as batch,\n    lateral (\n        select '
        ~ dbt_delta._iceberg__broken(table.checks) ~ ' as __dbt_broken\n        from (select '
        ~ dbt_delta._all_columns(batch, casts=true) | join(', ') ~ ')\n    ) as __dbt_checked\n)'
    ) -}}
{%- endmacro %}

{# The columns that the checked batch has beside its own. #}
{% macro _iceberg__checked_columns(table) -%}
    {{- return(['__dbt_broken'] if table.checks else []) -}}
{%- endmacro %}

{# Values to write, of which the first fails for a row that violates a check. #}
{% macro _iceberg__checked_values(table, values, source) -%}
    {%- if not table.checks or not values -%}{{- return(values) -}}{%- endif -%}
    {%- set broken = source ~ '.__dbt_broken' -%}
    {{- return(
        ['if(' ~ broken ~ ' is null, ' ~ values[0] ~ ', ' ~ dbt_delta._iceberg__stop(table, broken) ~ ')'] + values[1:]
    ) -}}
{%- endmacro %}

{# Refuses what would write rows that nothing checks. #}
{% macro _iceberg__check_checks(table, settings) -%}
    {%- set what = 'strategy ' ~ settings.strategy if settings.strategy not in dbt_delta._strategies()
        else 'not_matched_by_source_action' if (settings.by_source_action or 'delete') | lower != 'delete'
        else 'merge_update_columns' if settings.update_columns
        else 'merge_exclude_columns' if settings.exclude_columns else none -%}
    {%- if table.checks and what is not none -%}
        {%- do dbt_delta._refuse(
            table.name ~ ' has constraints, ' ~ table.checks.keys() | join(', ') ~ ', which on Iceberg our writes check by the '
            ~ 'rows of the batch; with ' ~ what ~ ' these are not the rows that the table gets. Nothing was written. Remove '
            ~ 'one of them.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Refuses constraints on what an update leaves as it is: columns, and fields of structs, that the batch does not have.
    The rows of the batch are checked as if they were NULL.
#}
{% macro _iceberg__check_batch(table, batch, settings) -%}
    {%- set updates = settings.strategy == 'merge' and settings.unique_key and not settings.skip_matched -%}
    {%- if not table.get('checks') or not updates -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set given = [] -%}
    {%- for column in batch.columns -%}
        {%- do given.append({'name': column.name, 'type': column.source_type}) -%}
    {%- endfor -%}
    {%- for change in dbt_delta._column_changes(given, batch.target_columns) if change.kind == 'drop' -%}
        {%- set outer = dbt_delta._column(batch.target_columns, change.path[0]).type -%}
        {%- set is_kept = change.path | length == 1 or dbt_delta._type_kind(outer) == 'struct' -%}
        {%- for name, expression in table.checks.items() if is_kept and dbt_delta._mentions(expression, change.path) -%}
            {%- do dbt_delta._refuse(
                'Constraint ' ~ name ~ ' of ' ~ table.name ~ ', ' ~ expression ~ ', uses ' ~ change.path | join('.')
                ~ ', which the model does not have and a row that is updated keeps: on Iceberg our writes check the rows of '
                ~ 'the batch only. Nothing was written. Add it to the model, or remove the constraint.'
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}

{# Refuses constraints of a snapshot: its MERGE writes rows of the history that it does not check. #}
{% macro _iceberg__check_snapshot(layout) -%}
    {%- if layout.checks -%}
        {%- do dbt_delta._refuse(
            'Snapshot ' ~ this.identifier ~ ' has constraints, ' ~ layout.checks.keys() | join(', ') ~ ', which on Iceberg its '
            ~ 'writes do not check yet. Nothing was written. Remove them, or build it on a target of Delta.'
        ) -%}
    {%- endif -%}
{%- endmacro %}
