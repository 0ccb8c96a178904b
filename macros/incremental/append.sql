{# Adds the rows of a batch, columns by name; columns that the batch lacks become NULL or default. #}
{% macro get_append_sql(target, batch, settings) -%}
insert into {{ target.name }} by name
{{ dbt_delta._select_batch(batch) }}
{%- endmacro %}

{# The batch's rows with the target's names and nested fields. #}
{% macro _select_batch(batch) -%}
    {%- set columns = [] -%}
    {%- for column in batch.columns -%}
        {%- do columns.append(dbt_delta._value(column) ~ ' as ' ~ dbt_delta._quoted(column.name)) -%}
    {%- endfor -%}
select
    {{ columns | join(',\n    ') }}
from {{ batch.from }}
{%- endmacro %}

{#
    A column of the batch with the nested fields that the target has. Fields that the batch lacks are those of
    `kept`, the column of the row that is updated, else NULL. A text that a partition column cannot hold fails.
#}
{% macro _value(column, alias=none, kept=none) -%}
    {%- set value = dbt_delta._read(column, alias, kept) -%}
    {%- set is_text = column.get('is_partition') and column.source_type == 'string' -%}
    {{- return(dbt_delta.get_partition_text_sql(value, column.name) if is_text else value) -}}
{%- endmacro %}

{#
    A text for a partition column, where an empty one, or the name that Hive has for NULL, would be NULL in the
    table, and bytes that are no UTF-8 other ones.
#}
{% macro get_partition_text_sql(value, name) -%}
    {{- return(
        'case when ' ~ value ~ " in ('', '__HIVE_DEFAULT_PARTITION__') or not is_valid_utf8(" ~ value ~ ') then raise_error('
        ~ dbt_delta._literal(
            'Partition column ' ~ name ~ " of the model has an empty text, '__HIVE_DEFAULT_PARTITION__' or bytes that are "
            ~ 'no UTF-8: Delta would store another value. Nothing was written. Give it a text, or NULL.'
        ) ~ ') else ' ~ value ~ ' end'
    ) -}}
{%- endmacro %}

{% macro _read(column, alias, kept=none) -%}
    {%- set name = dbt_delta._quoted(column.source) -%}
    {{- return(dbt_delta._conformed(
        alias ~ '.' ~ name if alias else name, column.source_type, column.type, kept=kept
    )) -}}
{%- endmacro %}

{# A column of the batch as the table stores it: what is compared with the table's own. #}
{% macro _stored(column, alias=none, kept=none) -%}
    {%- set value = dbt_delta._read(column, alias, kept) -%}
    {%- set is_cast = dbt_delta._type_kind(column.type) == 'atomic'
        and not dbt_delta._fits(column.source_type, column.type) -%}
    {{- return('cast(' ~ value ~ ' as ' ~ column.type ~ ')' if is_cast else value) -}}
{%- endmacro %}
