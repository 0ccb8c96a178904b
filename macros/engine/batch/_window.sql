{# The batch's window as conditions on the target, with literals by which Delta can skip files. #}
{% macro _window(table) -%}
    {%- set name = dbt_delta._names(config.get('event_time'))[0] -%}
    {%- set column = dbt_delta._table_column(table, name, 'event_time ' ~ name) -%}
    {%- set conditions = [] -%}
    {%- for sign, time in [
        ('>=', model.config.get('__dbt_internal_microbatch_event_time_start')),
        ('<', model.config.get('__dbt_internal_microbatch_event_time_end')),
    ] if time -%}
        {%- do conditions.append(
            dbt_delta._time_column(column) ~ ' ' ~ sign ~ ' ' ~ dbt_delta._time_literal(time, column.type)
        ) -%}
    {%- endfor -%}
    {{- return(conditions) -}}
{%- endmacro %}

{% macro _time_column(column) -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {{- return(
        name if column.type in ('timestamp', 'timestamp_ntz', 'date') else 'cast(' ~ name ~ ' as timestamp)'
    ) -}}
{%- endmacro %}

{# A moment in UTC as a literal of a type. A date belongs to the window that its midnight is in. #}
{% macro _time_literal(time, type) -%}
    {%- set text = time.strftime('%Y-%m-%d %H:%M:%S') -%}
    {%- if type == 'date' -%}
        {%- set late = text[11:] != '00:00:00' -%}
        {%- set day = time + modules.datetime.timedelta(days=1) if late else time -%}
        {{- return("date'" ~ day.strftime('%Y-%m-%d') ~ "'") -}}
    {%- elif type == 'timestamp_ntz' -%}
        {{- return("timestamp_ntz'" ~ text ~ "'") -}}
    {%- endif -%}
    {{- return("timestamp'" ~ text ~ "+00:00'") -}}
{%- endmacro %}
