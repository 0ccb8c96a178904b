{#
    A column of the batch with the nested fields of the table. A field that the batch does not have comes from `kept`,
    the column of the updated row, or is NULL. The write fails for a text that a partition column cannot hold.
#}
{% macro _value(column, alias=none, kept=none) -%}
    {%- set value = dbt_delta._read(column, alias, kept) -%}
    {%- set is_text = column.get('is_partition') and column.source_type == 'string' -%}
    {{- return(dbt_delta.get_partition_text_sql(value, column.name) if is_text else value) -}}
{%- endmacro %}

{# The condition that a partition column stores a text as NULL: it is empty, or Hive's name for NULL. #}
{% macro _is_null_in_partition(value) -%}{{- return(value ~ " in ('', '__HIVE_DEFAULT_PARTITION__')") -}}{%- endmacro %}

{# The condition that a partition column cannot hold a text. Spark stores invalid UTF-8 as other bytes. #}
{% macro _is_lost_in_partition(value) -%}
    {{- return(dbt_delta._is_null_in_partition(value) ~ ' or not is_valid_utf8(' ~ value ~ ')') -}}
{%- endmacro %}

{# A text for a partition column; fails for one that it cannot hold. #}
{% macro get_partition_text_sql(value, name) -%}
    {{- return(
        'case when ' ~ dbt_delta._is_lost_in_partition(value) ~ ' then raise_error('
        ~ dbt_delta._literal(
            'Partition column ' ~ name ~ " of the model has an empty text, '__HIVE_DEFAULT_PARTITION__' or invalid "
            ~ 'UTF-8: Delta would store another value. Nothing was written. Use another text, or NULL.'
        ) ~ ') else ' ~ value ~ ' end'
    ) -}}
{%- endmacro %}

{#
    A SELECT for a new table: it fails for a text that a partition column cannot hold, and has no DEFAULT of a table
    that it reads. Spark would give that to the new table: Delta refuses it, or fills rows with it from then on.
#}
{% macro get_guarded_sql(sql, columns, partitions=[]) -%}
    {%- set values, changed = [], [] -%}
    {%- for column in columns -%}
        {%- set name = dbt_delta._quoted(column.name) -%}
        {%- set value = dbt_delta._uncarried(column) -%}
        {%- if column.name in partitions and column.type == 'string' -%}
            {%- set value = dbt_delta.get_partition_text_sql(name, column.name) -%}
        {%- endif -%}
        {%- do changed.append(value) if value != name -%}
        {%- do values.append(value if value == name else value ~ ' as ' ~ name) -%}
    {%- endfor -%}
    {{- return('select ' ~ values | join(', ') ~ '\nfrom (\n' ~ sql ~ '\n) as batch\n' if changed else sql) -}}
{%- endmacro %}

{# A column of a SELECT, of a type that can be stored, and without the DEFAULT of the table that it comes from. #}
{% macro _uncarried(column, type=none) -%}
    {%- set name, type = dbt_delta._quoted(column.name), type or column.type -%}
    {{- return('cast(' ~ name ~ ' as ' ~ type ~ ')' if type != column.type or column.get('carried') else name) -}}
{%- endmacro %}

{% macro _read(column, alias, kept=none) -%}
    {%- set name = dbt_delta._quoted(column.source) -%}
    {{- return(dbt_delta._conformed(
        alias ~ '.' ~ name if alias else name, column.source_type, column.type, kept=kept
    )) -}}
{%- endmacro %}

{# A column of the batch as the table stores it, for comparisons with the table. #}
{% macro _stored(column, alias=none, kept=none) -%}
    {%- set value = dbt_delta._read(column, alias, kept) -%}
    {%- set is_cast = dbt_delta._type_kind(column.type) == 'atomic'
        and not dbt_delta._fits(column.source_type, column.type) -%}
    {{- return('cast(' ~ value ~ ' as ' ~ column.type ~ ')' if is_cast else value) -}}
{%- endmacro %}
