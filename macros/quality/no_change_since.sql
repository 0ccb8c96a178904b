{#
    Rows in which a table differs from its state at a version, at a time, or before a run. Commits that only move rows
    are not a change.
#}
{% test no_change_since(model, since, unique_key=none, exclude_columns=[], tolerance={}) -%}
    {{- dbt_delta.get_diff_versions_sql(
        dbt_delta._tested_relation(model, 'no_change_since'), since, none, unique_key, exclude_columns, tolerance
    ) -}}
{%- endtest %}

{# The relation under test; a `where` turns it into a subquery, which has no versions. #}
{% macro _tested_relation(model, test) -%}
    {%- if model is string -%}
        {%- do dbt_delta._refuse(
            test ~ ' compares whole relations. Remove `where` from its config, or test a view of those rows.'
        ) -%}
    {%- endif -%}
    {{- return(model) -}}
{%- endmacro %}
