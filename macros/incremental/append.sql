{# Adds the rows of a batch, columns by name; columns that the batch lacks become NULL or default. #}
{% macro get_append_sql(table, batch, settings) -%}
insert into {{ table.name }} by name
{{ dbt_delta._select_batch(batch) }}
{%- endmacro %}
