{#
    The minimum age of a file that VACUUM may remove, so that no needed version is lost: {hours, why, property_hours,
    hard_hours, hard_why, blocked}. `property_hours` is the table's own retention. `hard_hours` is what shallow clones
    and views of old versions need; nothing overrides it. `blocked` is the reason why no VACUUM is safe, or none.
#}
{% macro _floor(table) -%}
    {%- set state, needs = table.state, dbt_delta._own_needs(table) -%}
    {%- for claim in state.claims if not claim.is_live and dbt_delta._is_needed(claim, state) -%}
        {%- do needs.append(dbt_delta._need(
            state, claim.time, 'its shallow clone ' ~ dbt_delta._bare(claim.table.relation) ~ ' reads its files'
        )) -%}
    {%- endfor -%}
    {{- return(dbt_delta._floor_of(state, needs)) -}}
{%- endmacro %}

{# The same from a table's properties and from the needs of others, as _need returns them. #}
{% macro _floor_of(state, needs) -%}
    {%- set key = dbt_delta._retention_property('files') -%}
    {%- set property = dbt_delta._hours(
        dbt_delta._own_retention(state.configuration)[key] or dbt_delta._retention_properties()[key]
    ) -%}
    {%- set undo = var('dbt_delta_undo_days', 7) -%}
    {%- if undo is not number or undo is boolean or undo < 0 -%}
        {%- do dbt_delta._refuse(
            "The variable dbt_delta_undo_days is '" ~ undo ~ "'. Use the number of days for which undo_run must work."
        ) -%}
    {%- endif -%}
    {%- set at = namespace(hours=property, why="the table's retention", hard=0, hard_why='', blocked=none) -%}
    {%- if undo * 24 > property -%}{%- set at.hours, at.why = undo * 24, 'dbt_delta_undo_days' -%}{%- endif -%}
    {%- for need in needs -%}
        {%- if need.blocked is not none -%}{%- set at.blocked = need.blocked -%}{%- endif -%}
        {%- if need.hours > at.hard -%}{%- set at.hard, at.hard_why = need.hours, need.why -%}{%- endif -%}
        {%- if need.hours > at.hours -%}{%- set at.hours, at.why = need.hours, need.why -%}{%- endif -%}
    {%- endfor -%}
    {{- return({
        'hours': at.hours, 'why': at.why, 'property_hours': property,
        'hard_hours': at.hard, 'hard_why': at.hard_why, 'blocked': at.blocked,
    }) -}}
{%- endmacro %}

{#
    A need for files that left a table since a time: {hours, why, blocked}. An hour is added, because VACUUM begins
    after the state was read. If the time is not known, `since` is a text with the reason, and no VACUUM is safe.
#}
{% macro _need(state, since, why) -%}
    {{- return({
        'hours': 0 if since is string or since == 0 else dbt_delta._hours_since(state, since) + 1,
        'why': why, 'blocked': since if since is string else none,
    }) -}}
{%- endmacro %}

{# The needs of a table's pins. #}
{% macro _own_needs(table) -%}
    {%- set needs = [] -%}
    {%- for pin in dbt_delta._pins(table) -%}
        {%- set since = dbt_delta._needed_since(table.state, pin) -%}
        {%- do needs.append(dbt_delta._need(
            table.state, pin.who ~ ' ' ~ since if since is string else since,
            pin.who ~ ' reads ' ~ dbt_delta._pin_text(pin) if since is not string else '',
        )) -%}
    {%- endfor -%}
    {{- return(needs) -}}
{%- endmacro %}

{# Whether a clone reads a file in a version that the clone still needs. #}
{% macro _is_needed(claim, state) -%}
    {%- if claim.left is none -%}{{- return(true) -}}{%- endif -%}
    {%- set floor = dbt_delta._floor_of(claim.table.state, dbt_delta._own_needs(claim.table)) -%}
    {{- return(floor.blocked is not none or dbt_delta._hours_since(state, claim.left) <= floor.hours) -}}
{%- endmacro %}

{# The retention in a table's properties, none for a missing one. A killed VACUUM left it in dbt_delta.retention. #}
{% macro _own_retention(configuration) -%}
    {%- set own, found = {}, fromjson(configuration.get('dbt_delta.retention') or 'null', none) or configuration -%}
    {%- for key in dbt_delta._retention_properties() -%}{%- do own.update({key: found.get(key)}) -%}{%- endfor -%}
    {{- return(own) -}}
{%- endmacro %}

{# Whether a property is the pin of a reader. #}
{% macro _is_pin(key) -%}{{- return(key.startswith('dbt_delta.pin.')) -}}{%- endmacro %}

{#
    What the new version of a table that is built anew gets from the table: the pins of readers, and the retention that
    the model does not set. A model's retention may be too long for the log that was kept.
#}
{% macro _handed_on(existing, wanted) -%}
    {%- set found, default, own = {}, dbt_delta._retention_properties(), {} -%}
    {%- for key, value in existing.properties.items() if dbt_delta._is_pin(key) and value is not none -%}
        {%- do found.update({key: value}) -%}
    {%- endfor -%}
    {%- for key, value in dbt_delta._own_retention(existing.properties).items() if value is not none -%}
        {%- do own.update({key: value}) -%}
    {%- endfor -%}
    {%- set hours, both = [], dict(default, **dict(own, **wanted)) -%}
    {%- for of in ('files', 'log') -%}
        {%- do hours.append(dbt_delta._hours(both[dbt_delta._retention_property(of)])) -%}
    {%- endfor -%}
    {{- return(dict(dict(found, **(own if hours[0] <= hours[1] else {})), **wanted)) -}}
{%- endmacro %}

{# Versions of a table that are read by views, or by a reader that a property dbt_delta.pin.<who> names. #}
{% macro _pins(table) -%}
    {%- set pins = table.pins | list -%}
    {%- for key, value in table.state.configuration.items() if dbt_delta._is_pin(key) -%}
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
    The time since when files that left the table are read by a pin; 0 if it reads none of these files; a text with
    the reason if the time is not known.
#}
{% macro _needed_since(state, pin) -%}
    {%- if pin.get('unknown') -%}
        {{- return(pin.unknown) -}}
    {%- elif not dbt_delta._is_of_time(pin) -%}
        {%- set version = pin.version if 'version' in pin else pin.feed[0] -%}
        {%- if not modules.re.fullmatch('[0-9]+', version | string) -%}
            {{- return("reads version '" ~ version ~ "', which is not a number") -}}
        {%- endif -%}
        {#- A version needs what later ones took away; a feed also reads what its first version did. -#}
        {%- set first = version | int + (0 if 'feed' in pin else 1) -%}
        {%- if first > state.version -%}{{- return(0) -}}{%- endif -%}
        {{- return(
            'reads ' ~ dbt_delta._pin_text(pin) ~ ', and the next version is not in the log' if first not in state.commits
            else dbt_delta._left_since(state, pin, first)
        ) -}}
    {%- endif -%}
    {%- set at = pin.at -%}
    {%- if at is none -%}
        {{- return('reads it as of an unknown time' ~ (': ' ~ pin.times[0] if pin.get('times') else '')) -}}
    {%- endif -%}
    {#- The first commit after that time replaced the version that was the newest then. -#}
    {%- set later = [] -%}
    {%- for version, time in state.commits.items() if time > at or ('feed' in pin and time == at) -%}
        {%- do later.append(version) -%}
    {%- endfor -%}
    {%- set since = dbt_delta._left_since(state, pin, later | min) if later else 0 -%}
    {{- return([at, since] | min if 'feed' in pin and later and since is not string else since) -}}
{%- endmacro %}

{#
    The time since when the commits from a version on have marked files as removed: a long OPTIMIZE marks them when it
    begins, not when it commits. VACUUM takes files of a change feed by the time when they were written, which is after
    the commit that their job had read.
#}
{% macro _left_since(state, pin, first) -%}
    {%- set times, told = [], state.get('removals', {}) -%}
    {%- for version, time in state.commits.items() if version >= first -%}
        {%- set of = told.get(version, {}) -%}
        {%- do times.extend([time, of.get('removed') or time]) -%}
        {%- if 'feed' in pin and of.get('read') is not none -%}
            {%- if of.read not in state.commits -%}
                {{- return('reads ' ~ dbt_delta._pin_text(pin) ~ ', and version ' ~ of.read ~ ' is not in the log') -}}
            {%- endif -%}
            {%- do times.append(state.commits[of.read]) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(times | min) -}}
{%- endmacro %}

{# Whether a pin names a time and not a version. #}
{% macro _is_of_time(pin) -%}
    {{- return('times' in pin or (
        'feed' in pin and not (pin.feed[0] is defined and modules.re.fullmatch('[0-9]+', pin.feed[0]))
    )) -}}
{%- endmacro %}

{% macro _hours_since(state, time) -%}
    {{- return((state.now - time) / 3600000) -}}
{%- endmacro %}

{# The hours of an interval in a property of Delta, such as interval 1 week 2 days. #}
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

{# The properties that make VACUUM use other hours than the table's own; none if they are not needed. #}
{% macro _lent_retention(table, hours) -%}
    {%- if hours == table.floor.property_hours -%}{{- return({}) -}}{%- endif -%}
    {%- set own, default = dbt_delta._own_retention(table.state.configuration), dbt_delta._retention_properties() -%}
    {%- set interval = 'interval ' ~ (hours * 3600) | round(0, 'ceil') | int ~ ' seconds' -%}
    {%- set mark = tojson(dict(own, by=invocation_id, at=table.state.now)) -%}
    {%- set lent = {dbt_delta._retention_property('files'): interval, 'dbt_delta.retention': mark} -%}
    {%- set log_key = dbt_delta._retention_property('log') -%}
    {%- set is_longer = dbt_delta._hours(own[log_key] or default[log_key]) < hours -%}
    {{- return(dict(lent, **({log_key: interval} if is_longer else {}))) -}}
{%- endmacro %}

{#
    Why a retention that was lent for a VACUUM is not to be put back, or none: another call lent it in the last hour, and
    VACUUM reads it when it begins. After that it does no harm, or the call was killed.
#}
{% macro _lent_by_another(mark, now) -%}
    {%- set lent = fromjson(mark or '{}', {}) -%}
    {%- if lent.get('by') in (none, invocation_id) or now - lent['at'] | int > 3600000 -%}
        {{- return(none) -}}
    {%- endif -%}
    {{- return(
        'invocation ' ~ lent['by'] ~ ' is about to VACUUM it, and has set its retention for that. Run this again when that '
        ~ 'has ended, or an hour later if it was killed'
    ) -}}
{%- endmacro %}

{# The hours for a VACUUM; refuses fewer hours than a reader needs. #}
{% macro _vacuum_hours(table, wanted) -%}
    {%- set floor, name = table.floor, dbt_delta._bare(table.relation) -%}
    {%- set short = var('dbt_delta_short_retention', []) -%}
    {%- set named = dbt_delta._names(short) | map('lower') | list -%}
    {%- if wanted is none or wanted >= floor.hours -%}
        {{- return([wanted or 0, floor.hours] | max) -}}
    {%- elif wanted < floor.hard_hours -%}
        {%- do dbt_delta._refuse(
            'vacuum of ' ~ name ~ ' with retention_hours ' ~ wanted ~ ' would remove files that are read: '
            ~ floor.hard_why ~ '. Keep at least ' ~ dbt_delta._hours_text(floor.hard_hours) ~ ', or drop that reader.'
        ) -%}
    {%- elif name | lower not in named -%}
        {%- do dbt_delta._refuse(
            'vacuum of ' ~ name ~ ' has retention_hours ' ~ wanted ~ ', less than ' ~ dbt_delta._hours_text(floor.hours)
            ~ ' (' ~ floor.why ~ '): undo_run and time travel would lose versions. Remove retention_hours, or name '
            ~ "the table in the variable: --vars '{dbt_delta_short_retention: [" ~ name ~ "]}'."
        ) -%}
    {%- endif -%}
    {{- return(wanted) -}}
{%- endmacro %}
