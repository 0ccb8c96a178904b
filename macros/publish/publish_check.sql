{# For on-run-start: refuses what could not be published, before the first model is built. #}
{% macro publish_check() -%}
    {%- set settings = dbt_delta._publish_settings() if execute else none -%}
    {%- if settings is not none -%}
        {%- set state = dbt_delta._published(settings) -%}
        {%- do dbt_delta._check_way(settings, state) -%}
        {%- do dbt_delta._check_publisher(settings, state) -%}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}
