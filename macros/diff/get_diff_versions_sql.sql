{#
    A SELECT of what differs between two versions of a table: one row per row that is there more or
    less, or per key whose row is another. Reads the change feed where the table kept one, else the
    files that the commits between touched, else all; commits that move rows only are no change.
#}
{% macro get_diff_versions_sql(
    relation, from_version, to_version=none, unique_key=none, exclude_columns=[], tolerance={}
) -%}
    {%- if not execute -%}{{- return('select * from ' ~ relation) -}}{%- endif -%}
    {%- set sides = dbt_delta._version_sides(relation, from_version, to_version, 'get_diff_versions_sql') -%}
    {{- return(dbt_delta._diff_sql(dbt_delta._comparison(
        sides.before, sides.after, unique_key, exclude_columns, tolerance, sides.rows
    ))) -}}
{%- endmacro %}
