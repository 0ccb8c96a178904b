{#
    A SELECT of the differences between two versions of a table: one row per added or removed row, or per key whose
    row changed. Reads the change feed if the table has one, otherwise the files that the commits in between touched,
    otherwise all rows. Commits that only move rows are not a change.
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
