{# The column with the name of the landed file: `_file`, where the format of the target leaves that to tables. #}
{% macro landed_file_column() -%}
    {{- return(dbt_delta._in_format('file_column')()) -}}
{%- endmacro %}
