{# The one statement that writes a batch. A user's own strategy gets a name to read the batch from. #}
{% macro get_write_sql(table, batch, settings) -%}
    {%- set strategy = settings.strategy | replace('+', '_') -%}
    {%- if settings.strategy in dbt_delta._strategies() -%}
        {{- return(dbt_delta['get_' ~ strategy ~ '_sql'](table, batch, settings)) -}}
    {%- endif -%}
    {{- return(context['get_incremental_' ~ strategy ~ '_sql']({
        'target_relation': this,
        'temp_relation': batch.staging or batch.view,
        'unique_key': config.get('unique_key'),
        'dest_columns': adapter.get_columns_in_relation(this),
        'incremental_predicates': config.get('predicates') or config.get('incremental_predicates'),
    })) -}}
{%- endmacro %}
