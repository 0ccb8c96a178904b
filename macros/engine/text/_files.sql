{# Name, time and size, which together identify one delivery of a file. #}
{% macro _file_columns() -%}
        substring_index(_metadata.file_path, '/', -1) as _file,
        _metadata.file_modification_time as _file_modified_at,
        _metadata.file_size as _file_size
{%- endmacro %}
