{# The batch's window as conditions on the target, with literals by which Delta can skip files. #}
{% macro _window(table) -%}
    {%- set name = dbt_delta._names(config.get('event_time'))[0] -%}
    {%- set column = dbt_delta._table_column(table, name, 'event_time ' ~ name) -%}
    {%- set start = model.config.get('__dbt_internal_microbatch_event_time_start') -%}
    {%- set end = model.config.get('__dbt_internal_microbatch_event_time_end') -%}
    {%- set sample = dbt_delta._sample() -%}
    {%- if sample and start and end -%}
        {#- dbt reads only the rows of the sample, so only these are replaced. -#}
        {%- set start, end = [start, sample.start] | max, [end, sample.end] | min -%}
    {%- endif -%}
    {%- set conditions = [] -%}
    {%- for sign, time in [('>=', start), ('<', end)] if time -%}
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
    {%- set text = time.strftime('%Y-%m-%d %H:%M:%S' ~ ('.%f' if time.microsecond else '')) -%}
    {%- if type == 'date' -%}
        {%- set late = text[11:] != '00:00:00' -%}
        {%- set day = time + modules.datetime.timedelta(days=1) if late else time -%}
        {{- return("date'" ~ day.strftime('%Y-%m-%d') ~ "'") -}}
    {%- elif type == 'timestamp_ntz' -%}
        {{- return("timestamp_ntz'" ~ text ~ "'") -}}
    {%- endif -%}
    {{- return("timestamp'" ~ text ~ "+00:00'") -}}
{%- endmacro %}

{#
    Refuses to build the table from a batch that is not the first one. `dbt retry` of a full refresh runs the batches
    that failed, and the first of these as a full refresh: the rows of the batches that succeeded would be gone. The
    same would happen if a hook has dropped the table and dbt does not know it.
#}
{% macro _check_first_batch() -%}
    {%- set start = model.config.get('__dbt_internal_microbatch_event_time_start') -%}
    {%- set end = model.config.get('__dbt_internal_microbatch_event_time_end') -%}
    {%- set sample = dbt_delta._sample() -%}
    {%- set begin = sample.start if sample
        else invocation_args_dict.get('event_time_start') or config.get('begin') -%}
    {%- if not start or not begin -%}{{- return(none) -}}{%- endif -%}
    {%- set pattern = '%Y-%m-%d %H:%M:%S' -%}
    {%- set first = modules.datetime.datetime.fromisoformat(begin | string).strftime(pattern) -%}
    {%- if start.strftime(pattern) > first -%}
        {%- do dbt_delta._refuse(
            'The batch of ' ~ start.strftime(pattern) ~ ' would build a new ' ~ dbt_delta._named(this)
            ~ ', which begins at ' ~ first ~ ': the rows of earlier batches would be missing. Nothing was changed. '
            ~ 'After dbt retry of a --full-refresh, run the failed batches without it: dbt run --select ' ~ model.name
            ~ " --event-time-start '" ~ start.strftime(pattern) ~ "' --event-time-end '" ~ end.strftime(pattern)
            ~ "'. Otherwise run the model again."
        ) -%}
    {%- endif -%}
{%- endmacro %}
