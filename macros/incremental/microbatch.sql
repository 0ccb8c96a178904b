{# Replaces the rows in one batch's window of event time; the bounds are in UTC. #}
{% macro get_microbatch_sql(table, batch, settings) -%}
    {{- dbt_delta.get_replace_where_sql(
        table, batch, dict(settings, predicates=dbt_delta._window(table) + settings.predicates)
    ) -}}
{%- endmacro %}
