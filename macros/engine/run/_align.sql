{# Changes an existing table to match its configuration, or refuses before the first change. #}
{% macro _align(existing, layout, changes=[]) -%}
    {%- if layout is not none -%}
        {%- do dbt_delta._check_rows(existing, layout, changes) -%}
        {%- set layout = dbt_delta._fit_comments(
            layout, dbt_delta._commented(existing.columns, changes) | map(attribute='name') | list
        ) -%}
    {%- endif -%}
    {%- for statement in dbt_delta.get_align_sql(existing, layout, changes) -%}
        {%- do run_query(statement) -%}
    {%- endfor -%}
{%- endmacro %}

{# Refuses constraints that rows of the table violate, before anything is altered. #}
{% macro _check_rows(existing, layout, changes) -%}
    {%- set columns = ['*'] -%}
    {%- for change in changes if change.kind == 'add' and change.path | length == 1 -%}
        {%- do columns.append('cast(null as ' ~ change.type ~ ') as ' ~ dbt_delta._quoted(change.path[0])) -%}
    {%- endfor -%}
    {%- set table = dbt_delta._named(existing.relation) -%}
    {%- do dbt_delta._refuse_violations(
        dbt_delta._missing_checks(existing, layout),
        '(select ' ~ columns | join(', ') ~ ' from ' ~ table ~ ')',
        'the rows in ' ~ table,
    ) -%}
{%- endmacro %}

{# Refuses rows that violate one of the constraints, {name: expression}; values of `masked` columns are not shown. #}
{% macro _refuse_violations(checks, from, rows, masked=none) -%}
    {%- if not checks -%}{{- return(none) -}}{%- endif -%}
    {%- set masked = dbt_delta._masked_here() if masked is none else masked -%}
    {%- set fields = [] -%}
    {%- for column in (dbt_delta._columns_of('select * from ' ~ from) if masked else []) -%}
        {%- do fields.append({'name': column.name, 'value': dbt_delta._quoted(column.name)}) -%}
    {%- endfor -%}
    {%- set found = run_query(dbt_delta.get_violations_sql(
        from, checks, dbt_delta._shown_json(fields, masked) if masked else none
    )).rows[0] -%}
    {%- for name, expression in checks.items() -%}
        {%- set count, example = found[2 * loop.index0], found[2 * loop.index0 + 1] -%}
        {%- if count | int > 0 -%}
            {%- do dbt_delta._refuse(
                'CHECK constraint ' ~ name ~ ' (' ~ expression ~ ') is violated by ' ~ count ~ ' of ' ~ rows
                ~ ', for example by ' ~ example ~ '. Nothing was changed. Correct the rows, or remove the constraint.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
