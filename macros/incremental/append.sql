{# Adds the rows of a batch, columns by name; columns that the batch lacks become NULL or default. #}
{% macro get_append_sql(target, batch, settings) -%}
insert into {{ target.name }} by name
{{ dbt_delta._select_batch(batch) }}
{%- endmacro %}
