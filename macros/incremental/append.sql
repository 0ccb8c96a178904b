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

{# A column of the batch with the nested fields that the target has. #}
{% macro _value(column, alias=none) -%}
    {%- set name = dbt_delta._quoted(column.source) -%}
    {{- return(dbt_delta._conformed(
        alias ~ '.' ~ name if alias else name, column.source_type, column.type
    )) -}}
{%- endmacro %}
