{#
    A SELECT of the differences between two relations, tables or views, in the form of get_diff_versions_sql: a is
    before, b is after.
#}
{% macro get_diff_relations_sql(a, b, unique_key=none, exclude_columns=[], tolerance={}) -%}
    {%- if not execute -%}{{- return('select * from ' ~ b) -}}{%- endif -%}
    {{- return(dbt_delta._diff_sql(dbt_delta._comparison(
        dbt_delta._named(a), dbt_delta._named(b), unique_key, exclude_columns, tolerance
    ))) -}}
{%- endmacro %}
