{# How long ago a time of the session's time zone was. #}
{% macro _age(time) -%}
    {{- return(dbt_delta._duration(dbt_delta._seconds_since(time))) -}}
{%- endmacro %}

{% macro _seconds_since(time) -%}
    {%- if 'dbt_delta_now' not in graph -%}
        {%- do graph.update({'dbt_delta_now': run_query('select current_timestamp() as now').rows[0]['now']}) -%}
    {%- endif -%}
    {%- set now = graph.dbt_delta_now -%}
    {{- return((now.replace(tzinfo=none) - time.replace(tzinfo=none)).total_seconds()) -}}
{%- endmacro %}
