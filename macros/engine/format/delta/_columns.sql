{# The column of a landed row with the name of its file. #}
{% macro _delta__file_column() -%}{{- return('_file') -}}{%- endmacro %}

{# Refuses names that a table cannot have; Delta says so itself. #}
{% macro _delta__check_columns(columns, name) -%}{%- endmacro %}
