{#
    Rows in which a table differs from what it was at a version, at a time, or before a run. Commits
    that only move rows are no change.
#}
{% test no_change_since(model, since, unique_key=none, exclude_columns=[], tolerance={}) -%}
    {{- dbt_delta.get_diff_versions_sql(
        dbt_delta._tested_relation(model, 'no_change_since'), since, none, unique_key, exclude_columns, tolerance
    ) -}}
{%- endtest %}

{# The relation that a test looks at; a `where` makes a subquery of it, which has no versions. #}
{% macro _tested_relation(model, test) -%}
    {%- if model is string -%}
        {%- do dbt_delta._refuse(
            test ~ ' compares whole relations; take `where` out of its config, or test a view of those rows.'
        ) -%}
    {%- endif -%}
    {{- return(model) -}}
{%- endmacro %}
