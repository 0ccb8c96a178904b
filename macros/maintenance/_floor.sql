{#
    How old a file must be that VACUUM removes, so that no version is lost that somebody needs:
    {hours, why, property_hours, hard_hours, blocked}. `property_hours` is the table's own retention,
    `hard_hours` what shallow clones and views of old versions need, which nothing overrides; `blocked`
    says why no VACUUM is safe, or is none.
#}
{% macro _floor(table) -%}
    {%- set state = table.state -%}
    {#- A VACUUM that was killed has left another one. -#}
    {%- set own = fromjson(state.configuration.get('dbt_delta.retention') or 'null', none) or state.configuration -%}
    {%- set key = 'delta.deletedFileRetentionDuration' -%}
    {%- set property = dbt_delta._hours(own.get(key) or dbt_delta._retention_properties()[key]) -%}
    {%- set undo = var('dbt_delta_undo_days', 7) -%}
    {%- if undo is not number or undo is boolean or undo < 0 -%}
        {%- do dbt_delta._refuse(
            "The variable dbt_delta_undo_days is '" ~ undo ~ "'. Give the days for which undo_run must work."
        ) -%}
    {%- endif -%}
    {%- set hard = namespace(hours=0, why='', blocked=none) -%}
    {%- for claim in state.claims -%}
        {#- VACUUM begins later than the state was read: an hour more is on the safe side. -#}
        {%- set hours = dbt_delta._hours_since(state, claim.time) + 1 -%}
        {%- if hours > hard.hours -%}
            {%- set hard.hours = hours -%}
            {%- set hard.why = 'its shallow clone ' ~ dbt_delta._bare(claim.relation) ~ ' has files of it' -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for pin in dbt_delta._pins(table) -%}
        {%- set replaced = dbt_delta._replaced_at(state, pin) -%}
        {%- if replaced is none -%}
            {%- set hard.blocked = pin.who ~ ' reads version ' ~ pin.version ~ ', of which the log has no successor' -%}
        {%- elif replaced and dbt_delta._hours_since(state, replaced) + 1 > hard.hours -%}
            {%- set hard.hours = dbt_delta._hours_since(state, replaced) + 1 -%}
            {%- set hard.why = pin.who ~ ' reads '
                ~ ('version ' ~ pin.version if 'version' in pin else 'it as of ' ~ pin.time) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set floor = {'hours': property, 'why': "the table's retention"} -%}
    {%- if undo * 24 > floor.hours -%}
        {%- do floor.update({'hours': undo * 24, 'why': 'dbt_delta_undo_days'}) -%}
    {%- endif -%}
    {%- if hard.hours > floor.hours -%}
        {%- do floor.update({'hours': hard.hours, 'why': hard.why}) -%}
    {%- endif -%}
    {%- do floor.update({
        'property_hours': property, 'hard_hours': hard.hours, 'hard_why': hard.why, 'blocked': hard.blocked,
    }) -%}
    {{- return(floor) -}}
{%- endmacro %}

{# Versions of a table that are read: by views, and by whom its properties dbt_delta.pin.<who> name. #}
{% macro _pins(table) -%}
    {%- set pins = table.pins | list -%}
    {%- for key, value in table.state.configuration.items() if key.startswith('dbt_delta.pin.') -%}
        {%- do pins.append({'version': value, 'who': key[14:]}) -%}
    {%- endfor -%}
    {{- return(pins) -}}
{%- endmacro %}

{# When a pinned version was replaced, 0 if it is the newest, or none if the log does not say. #}
{% macro _replaced_at(state, pin) -%}
    {%- if 'version' in pin -%}
        {%- set version = pin.version | int(-1) -%}
        {%- if version >= state.version -%}{{- return(0) -}}{%- endif -%}
        {{- return(state.commits.get(version + 1)) -}}
    {%- endif -%}
    {#- The version that was the newest then was replaced by the first after. -#}
    {%- set at = run_query(
        'select unix_millis(timestamp ' ~ dbt_delta._literal(pin.time) ~ ') as at'
    ).rows[0]['at'] | int -%}
    {%- set later = [] -%}
    {%- for time in state.commits.values() if time > at -%}{%- do later.append(time) -%}{%- endfor -%}
    {{- return(later | min if later else 0) -}}
{%- endmacro %}

{% macro _hours_since(state, time) -%}
    {{- return((state.now - time) / 3600000) -}}
{%- endmacro %}

{# The hours of an interval as Delta's properties have it: interval 1 week 2 days. #}
{% macro _hours(interval) -%}
    {%- set sizes = {
        'week': 168, 'day': 24, 'hour': 1, 'minute': 1 / 60, 'second': 1 / 3600,
        'millisecond': 1 / 3600000, 'microsecond': 1 / 3600000000,
    } -%}
    {%- set total = namespace(hours=0) -%}
    {%- for count, unit in modules.re.findall(
        '(-?[0-9.]+)\\s*(week|day|hour|minute|second|millisecond|microsecond)', interval | lower
    ) -%}
        {%- set total.hours = total.hours + count | float * sizes[unit] -%}
    {%- endfor -%}
    {{- return(total.hours) -}}
{%- endmacro %}
