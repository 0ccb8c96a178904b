{#
    The time that a view names, in milliseconds, none where Spark takes no text of it. A view keeps the time zone
    of the session that made it; where nobody tells which, it is the one in which the time came first.
#}
{% macro _time_of(pin) -%}
    {%- set key, zone = 'spark.sql.session.timeZone', pin.get('zone') -%}
    {%- set own = run_query('set ' ~ key).rows[0]['value'] -%}
    {%- if zone and zone != own -%}{%- do run_query('set ' ~ key ~ '=' ~ zone) -%}{%- endif -%}
    {%- set at = namespace(time=none) -%}
    {%- for text in pin.get('times', pin.get('feed')) if at.time is none -%}
        {%- set found = dbt_delta._attempt('select unix_millis(cast((' ~ text ~ '\n) as timestamp)) as at') -%}
        {%- if not found.problem and found.rows[0]['at'] is not none -%}
            {%- set at.time = found.rows[0]['at'] | int - (0 if zone else 50400000) -%}
            {%- do pin.update({'taken': text}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if zone and zone != own -%}{%- do run_query('set ' ~ key ~ '=' ~ own) -%}{%- endif -%}
    {{- return(at.time) -}}
{%- endmacro %}
