{#
    Tables with states, ready for _floor: their pins, and those of clones that need their recent versions, get the
    times that Spark reads in their texts. Each text is asked once. The states of pinned tables get `removals`.
#}
{% macro _with_times(tables) -%}
    {%- set known, done = {}, [] -%}
    {%- for table in tables if table.state is not none -%}
        {%- for one in [table] + (table.state.claims | rejectattr('left', 'none') | map(attribute='table') | list)
            if one.id not in known -%}
            {%- do known.update({one.id: dict(one, pins=dbt_delta._pins_with_times(one))}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set removals = dbt_delta._removals(known.values() | list) -%}
    {%- for table in tables -%}
        {%- set claims = [] -%}
        {%- for claim in (table.state.claims if table.state is not none else []) -%}
            {%- set clone = known.get(claim.table.id, claim.table) -%}
            {%- do claims.append(dict(claim, table=dbt_delta._with_removals(clone, removals))) -%}
        {%- endfor -%}
        {%- do done.append(table if table.state is none else dbt_delta._with_removals(
            dict(known[table.id], state=dict(table.state, claims=claims)), removals
        )) -%}
    {%- endfor -%}
    {{- return(done) -}}
{%- endmacro %}

{% macro _with_removals(table, removals) -%}
    {{- return(dict(table, state=dict(table.state, removals=removals.get(table.id, {})))) -}}
{%- endmacro %}

{# What the commits of pinned tables took away, {id: {version: {removed, read}}}; see _removals_sql. #}
{% macro _removals(tables) -%}
    {%- set pinned, removals = [], {} -%}
    {%- for table in tables -%}
        {%- set needed = [] -%}
        {%- for pin in dbt_delta._pins(table) -%}
            {%- do needed.append(dbt_delta._needed_since(table.state, pin)) -%}
        {%- endfor -%}
        {%- if needed | select('number') | select | list -%}{%- do pinned.append(table) -%}{%- endif -%}
    {%- endfor -%}
    {%- set found = dbt_delta._read_logs(pinned, 'removals') if pinned else {'rows': [], 'problems': {}} -%}
    {%- for table in pinned if table.id in found.problems -%}
        {%- do dbt_delta._refuse(
            dbt_delta._bare(table.relation) ~ ': its log cannot be read (' ~ found.problems[table.id] ~ '). Run this again.'
        ) -%}
    {%- endfor -%}
    {%- for row in found.rows -%}
        {%- do removals.setdefault(row['id'] | int, {}).update({row['version'] | int: {
            'removed': row['removed'] | int if row['removed'] is not none else none,
            'read': row['read'] | int if row['read'] is not none else none,
        }}) -%}
    {%- endfor -%}
    {{- return(removals) -}}
{%- endmacro %}

{% macro _pins_with_times(table) -%}
    {%- set pins = [] -%}
    {%- for pin in table.pins -%}
        {%- do pins.append(
            dict(pin, **dbt_delta._time_of(pin)) if 'unknown' not in pin and dbt_delta._is_of_time(pin) else pin
        ) -%}
    {%- endfor -%}
    {{- return(pins) -}}
{%- endmacro %}

{#
    The time that a view names, in milliseconds, and its text: {at, taken}; none if Spark accepts none of its texts. A
    view keeps the time zone of the session that made it. If that zone is not known, the one with the earliest time
    counts.
#}
{% macro _time_of(pin) -%}
    {%- set key, zone = 'spark.sql.session.timeZone', pin.get('zone') -%}
    {%- set own = run_query('set ' ~ key).rows[0]['value'] -%}
    {%- if zone and zone != own -%}{%- do run_query('set ' ~ key ~ '=' ~ zone) -%}{%- endif -%}
    {%- set at = namespace(time=none, taken=none) -%}
    {%- for text in pin.get('times', pin.get('feed')) if at.time is none -%}
        {%- set found = dbt_delta._attempt('select unix_millis(cast((' ~ text ~ '\n) as timestamp)) as at') -%}
        {%- if not found.problem and found.rows[0]['at'] is not none -%}
            {%- set at.time = found.rows[0]['at'] | int - (0 if zone else 50400000) -%}
            {%- set at.taken = text -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if zone and zone != own -%}{%- do run_query('set ' ~ key ~ '=' ~ own) -%}{%- endif -%}
    {{- return({'at': at.time, 'taken': at.taken}) -}}
{%- endmacro %}
