{# Replaces the rows that meet the predicates; without predicates it appends. #}
{% macro get_replace_where_sql(table, batch, settings) -%}
{%- if settings.predicates -%}
    {{ dbt_delta._in_format('replace_where_sql')(table, batch, settings) }}
{%- else -%}
    {{ dbt_delta.get_append_sql(table, batch, settings) }}
{%- endif -%}
{%- endmacro %}
