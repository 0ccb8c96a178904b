{# Adds the rows of a batch, with columns by name. Columns that are not in the batch get their DEFAULT, or NULL. #}
{% macro get_append_sql(table, batch, settings) -%}
insert into {{ table.name }} by name
{{ dbt_delta._select_batch(batch) }}
{%- endmacro %}
