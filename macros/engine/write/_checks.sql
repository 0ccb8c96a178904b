{#
    Constraints of an existing table to drop: not in the configuration any more, or with another text there. Those of
    expectations are known by their name and text.
#}
{% macro _surplus_checks(existing, layout) -%}
    {%- set surplus = [] -%}
    {%- for name in dbt_delta._constraint_names(existing.properties) -%}
        {%- set is_expectation = name.startswith('expect_')
            and (dbt_delta._constraint(existing.properties, name) or 'coalesce').startswith('coalesce') -%}
        {%- if (layout.follows_checks or is_expectation) and name not in layout.checks or (
            name in layout.checks
            and not dbt_delta._has_check(existing, name, layout.checks[name])
        ) -%}
            {%- do surplus.append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(surplus) -}}
{%- endmacro %}

{# Constraints that an existing table does not have yet, as name: expression. #}
{% macro _missing_checks(existing, layout) -%}
    {%- set missing = {} -%}
    {%- for name, expression in layout.checks.items()
        if not dbt_delta._has_check(existing, name, expression) -%}
        {%- do missing.update({name: expression}) -%}
    {%- endfor -%}
    {{- return(missing) -}}
{%- endmacro %}

{# Whether a table has a constraint. ALTER TABLE stores it without comments, and with a blank between tokens. #}
{% macro _has_check(existing, name, expression) -%}
    {%- set found = dbt_delta._constraint(existing.properties, name) -%}
    {{- return(found is not none and dbt_delta._tokens(found) == dbt_delta._tokens(expression)) -}}
{%- endmacro %}

{# For each constraint, how many rows violate it, and one of them or its `example`; NULL violates it. #}
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
