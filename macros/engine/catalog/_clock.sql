{# How long ago a time of the session's time zone was. #}
{% macro _age(time) -%}
    {{- return(dbt_delta._duration(dbt_delta._seconds_since(time))) -}}
{%- endmacro %}

{% macro _seconds_since(time) -%}
    {%- set known = dbt_delta._memory('clock') -%}
    {%- if 'now' not in known -%}
        {%- do known.update({'now': run_query('select current_timestamp() as now').rows[0]['now']}) -%}
    {%- endif -%}
    {{- return((known.now.replace(tzinfo=none) - time.replace(tzinfo=none)).total_seconds()) -}}
{%- endmacro %}
