{#
    How old a file must be that VACUUM removes, so that no version is lost that somebody needs:
    {hours, why, property_hours, hard_hours, hard_why, blocked}. `property_hours` is the table's own retention,
    `hard_hours` what shallow clones and views of old versions need, which nothing overrides; `blocked`
    says why no VACUUM is safe, or is none.
#}
{% macro _floor(table) -%}
    {%- set floor, state = dict(dbt_delta._own_floor(table)), table.state -%}
    {%- for claim in state.claims if not claim.is_live and dbt_delta._is_needed(claim, state) -%}
        {#- VACUUM begins later than the state was read: an hour more is on the safe side. -#}
        {%- do dbt_delta._raise_floor(
            floor, dbt_delta._hours_since(state, claim.time) + 1,
            'its shallow clone ' ~ dbt_delta._bare(claim.table.relation) ~ ' has files of it'
        ) -%}
    {%- endfor -%}
    {{- return(floor) -}}
{%- endmacro %}

{# The same without what clones need. #}
{% macro _own_floor(table) -%}
    {%- if table.own_floor is defined -%}{{- return(table.own_floor) -}}{%- endif -%}
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
    {%- set floor = {
        'hours': property, 'why': "the table's retention",
        'property_hours': property, 'hard_hours': 0, 'hard_why': '', 'blocked': none,
    } -%}
    {%- if undo * 24 > property -%}
        {%- do floor.update({'hours': undo * 24, 'why': 'dbt_delta_undo_days'}) -%}
    {%- endif -%}
    {%- for pin in dbt_delta._pins(table) -%}
        {%- set since = dbt_delta._needed_since(state, pin) -%}
        {%- if since is string -%}
            {%- do floor.update({'blocked': pin.who ~ ' ' ~ since}) -%}
        {%- elif since -%}
            {%- do dbt_delta._raise_floor(
                floor, dbt_delta._hours_since(state, since) + 1, pin.who ~ ' reads ' ~ dbt_delta._pin_text(pin)
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do table.update({'own_floor': floor}) -%}
    {{- return(floor) -}}
{%- endmacro %}

{% macro _raise_floor(floor, hours, why) -%}
    {%- if hours > floor.hard_hours -%}{%- do floor.update({'hard_hours': hours, 'hard_why': why}) -%}{%- endif -%}
    {%- if hours > floor.hours -%}{%- do floor.update({'hours': hours, 'why': why}) -%}{%- endif -%}
{%- endmacro %}

{# Whether a clone has a file in a version that it needs itself. #}
{% macro _is_needed(claim, state) -%}
    {%- if claim.left is none -%}{{- return(true) -}}{%- endif -%}
    {%- set floor = dbt_delta._own_floor(claim.table) -%}
    {{- return(floor.blocked is not none or dbt_delta._hours_since(state, claim.left) <= floor.hours) -}}
{%- endmacro %}

{# Versions of a table that are read: by views, and by whom its properties dbt_delta.pin.<who> name. #}
{% macro _pins(table) -%}
    {%- set pins = table.pins | list -%}
    {%- for key, value in table.state.configuration.items() if key.startswith('dbt_delta.pin.') -%}
        {%- do pins.append({'version': value, 'who': key[14:]}) -%}
    {%- endfor -%}
    {{- return(pins) -}}
{%- endmacro %}

{% macro _pin_text(pin) -%}
    {%- if 'version' in pin -%}{{- return('version ' ~ pin.version) -}}{%- endif -%}
    {%- set text = pin.get('taken', pin.get('times', pin.get('feed'))[0]) -%}
    {%- set text = text.strip("'") if text.startswith("'") else text -%}
    {{- return(('its changes since ' if 'feed' in pin else 'it as of ') ~ text) -}}
{%- endmacro %}

{#
    The time from which on a file that leaves the table is read by a pin, 0 if none is that left it so far,
    or as a text why that cannot be told.
#}
{% macro _needed_since(state, pin) -%}
    {%- if pin.get('unknown') -%}
        {{- return(pin.unknown) -}}
    {%- elif 'version' in pin or ('feed' in pin and pin.feed[0] is defined and modules.re.fullmatch('[0-9]+', pin.feed[0])) -%}
        {%- set version = pin.version if 'version' in pin else pin.feed[0] -%}
        {%- if not modules.re.fullmatch('[0-9]+', version | string) -%}
            {{- return("reads version '" ~ version ~ "', which is no number") -}}
        {%- endif -%}
        {%- if version | int >= state.version + ('feed' in pin) | int -%}{{- return(0) -}}{%- endif -%}
        {#- A version is complete until the next; a feed reads what its first version took away. -#}
        {%- set time = state.commits.get(version | int + (0 if 'feed' in pin else 1)) -%}
        {{- return(
            'reads ' ~ dbt_delta._pin_text(pin) ~ ', of which the log has no successor' if time is none else time
        ) -}}
    {%- endif -%}
    {%- set at = dbt_delta._time_of(pin) -%}
    {%- if at is none -%}
        {{- return('reads it as of a time that cannot be told' ~ (': ' ~ pin.times[0] if pin.get('times') else '')) -}}
    {%- endif -%}
    {%- if 'feed' in pin -%}{{- return(at) -}}{%- endif -%}
    {#- The version that was the newest then was replaced by the first after. -#}
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
