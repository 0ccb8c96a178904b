{# For on-run-start: refuses what could not be published, before the first model is built. #}
{% macro publish_check() -%}
    {%- set settings = dbt_delta._publish_settings() if execute else none -%}
    {%- if settings is not none -%}
        {%- set state = dbt_delta._published(settings) -%}
        {%- do dbt_delta._check_way(settings, state) -%}
        {%- do dbt_delta._check_publisher(settings, state) -%}
        {#- For the end of this run: what others leave meanwhile, its results may not know. -#}
        {%- do dbt_delta._memory('publish').update({
            'start': dbt_delta._left(settings if state.is_recorded else none),
        }) -%}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}
