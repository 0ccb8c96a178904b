{# The column of a landed row with the name of its file: `_file` is Iceberg's own. #}
{% macro _iceberg__file_column() -%}{{- return('_landed_file') -}}{%- endmacro %}

{# Refuses the names of Iceberg's own columns: such a table can be written, and never be read. #}
{% macro _iceberg__check_columns(columns, name) -%}
    {%- for column in columns if column.name | lower in (
        '_file', '_pos', '_deleted', '_spec_id', '_partition', '_row_id', '_last_updated_sequence_number',
        '_change_type', '_change_ordinal', '_commit_snapshot_id',
    ) -%}
        {%- do dbt_delta._refuse(
            "Column '" ~ column.name ~ "' of " ~ name ~ ' has the name of a column that each Iceberg table has: nobody '
            ~ 'could read the table. Nothing was written. Rename it.'
        ) -%}
    {%- endfor -%}
{%- endmacro %}
