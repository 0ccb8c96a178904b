{# Constraints of an existing table that are to go: not promised any more, or with another text. #}
{% macro _surplus_checks(existing, layout) -%}
    {%- set surplus = [] -%}
    {%- for name in dbt_delta._constraint_names(existing.properties) -%}
        {%- if layout.follows_checks and name not in layout.checks or (
            name in layout.checks
            and not dbt_delta._has_check(existing, name, layout.checks[name])
        ) -%}
            {%- do surplus.append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(surplus) -}}
{%- endmacro %}

{# Constraints that an existing table lacks, as name: expression. #}
{% macro _missing_checks(existing, layout) -%}
    {%- set missing = {} -%}
    {%- for name, expression in layout.checks.items()
        if not dbt_delta._has_check(existing, name, expression) -%}
        {%- do missing.update({name: expression}) -%}
    {%- endfor -%}
    {{- return(missing) -}}
{%- endmacro %}

{# Whether a table has a constraint. ALTER TABLE stores it without comments, a blank between all its tokens. #}
{% macro _has_check(existing, name, expression) -%}
    {%- set found = existing.properties.get('delta.constraints.' ~ name) -%}
    {{- return(found is not none and dbt_delta._tokens(found) == dbt_delta._tokens(expression)) -}}
{%- endmacro %}

{% macro _constraint_names(properties) -%}
    {%- set names = [] -%}
    {%- for key in properties if key.startswith('delta.constraints.') -%}{%- do names.append(key[18:]) -%}{%- endfor -%}
    {{- return(names) -}}
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

{# Refuses rows that violate one of some constraints, as name: expression; `masked` columns are not shown. #}
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

{# For each constraint how many rows violate it, and one of them, or `example` of it; NULL violates. #}
{% macro get_violations_sql(from, checks, example=none) -%}
    {%- set counts = [] -%}
    {%- for expression in checks.values() -%}
        {%- set violated = '(' ~ expression ~ ') is not true' -%}
        {%- do counts.append('count_if(' ~ violated ~ ')') -%}
        {%- do counts.append(
            'first(' ~ (example or "to_json(struct(*), map('ignoreNullFields', 'false'))")
            ~ ') filter (where ' ~ violated ~ ')'
        ) -%}
    {%- endfor -%}
select {{ counts | join(',\n    ') }}
from {{ from }}
{%- endmacro %}
