{#
    Evaluates the source once, stages the rows that may change the history or that are wrong, and checks them. Refuses
    before anything is written. Returns the batch with {rows, bounds, has_ended_keys}: how many rows are staged, the
    bounds of their keys, and whether some keys have only ended rows.
#}
{% macro _stage_snapshot(table, batch, settings) -%}
    {%- do dbt_delta._drop_leftovers(this) -%}
    {%- set select = dbt_delta.get_feed_stage_sql(batch, settings) if settings.strategy == 'cdc'
        else dbt_delta.get_history_stage_sql(table, batch, settings) -%}
    {%- do dbt_delta._execute(dbt_delta.get_create_staging_sql(batch.from, select)) -%}
    {%- set bounded, types = [], [] -%}
    {%- for key in batch['keys'] -%}
        {%- set column = dbt_delta._column(table.columns, key.name) if table and key.name else none -%}
        {%- if column is not none and dbt_delta._is_bounded(column) -%}
            {%- do bounded.append(dbt_delta._bounded_key(table, column, '__dbt_key_' ~ loop.index)) -%}
            {#- Keys that are gone come from the table, and may be too large for the source's type. -#}
            {%- do types.append({
                'name': column.name,
                'type': column.type if dbt_delta._widens(key.type, column.type) else key.type,
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set found = dbt_delta._ask(dbt_delta.get_snapshot_check_sql(table, batch, settings, bounded)).rows[0] -%}
    {%- set batch = dict(
        batch, rows=found['row_count'] | int, bounds=dbt_delta._found_bounds(bounded, found, types)
    ) -%}
    {%- do dbt_delta._check_snapshot(table, batch, settings, found) -%}
    {%- do dbt_delta._check_open_ends(table, batch, settings) if found['ends_ahead'] | int > 0 -%}
    {{- return(dict(
        batch, has_ended_keys=dbt_delta._find_ended_keys(table, batch, settings, found['new_keys'] | int)
    )) -}}
{%- endmacro %}

{# Keys as separate columns: `text` in the table, `given` in the source. #}
{% macro _key_columns(keys, part='text') -%}
    {%- set columns = [] -%}
    {%- for key in keys -%}{%- do columns.append(key[part] ~ ' as __dbt_key_' ~ loop.index) -%}{%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{% macro _key_names(keys, alias=none) -%}
    {%- set names = [] -%}
    {%- for key in keys -%}
        {%- do names.append((alias ~ '.' if alias else '') ~ '__dbt_key_' ~ loop.index) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{% macro _same_snapshot_keys(keys, one, other) -%}
    {%- set same = [] -%}
    {%- for name in dbt_delta._key_names(keys) -%}
        {%- do same.append(one ~ '.' ~ name ~ ' <=> ' ~ other ~ '.' ~ name) -%}
    {%- endfor -%}
    {{- return(same | join(' and ')) -}}
{%- endmacro %}

{# The condition of a row of the history that is open. #}
{% macro _is_open(batch, settings, alias=none) -%}
    {%- set column = (alias ~ '.' if alias else '') ~ dbt_delta._quoted(settings.to) -%}
    {{- return(
        column ~ ' is null' if not settings.current
        else '(' ~ column ~ ' is null or ' ~ column ~ ' = ' ~ dbt_delta._current(batch, settings) ~ ')'
    ) -}}
{%- endmacro %}

{# The value of dbt_valid_to in an open row. #}
{% macro _current(batch, settings) -%}
    {{- return('cast(' ~ (settings.current or 'null') ~ ' as ' ~ batch.time ~ ')') -}}
{%- endmacro %}

{# Whether the open row marks the key as deleted. #}
{% macro _is_deletion(batch, settings, alias=none) -%}
    {%- if not batch.has_deletions -%}{{- return('false') -}}{%- endif -%}
    {%- set flag = (alias ~ '.' if alias else '') ~ dbt_delta._quoted(settings.deleted) -%}
    {{- return('lower(cast(' ~ flag ~ " as string)) <=> 'true'") -}}
{%- endmacro %}

{# The source's own time of a staged row, in the type of dbt_valid_from. #}
{% macro _own_time(batch, alias) -%}
    {{- return(dbt_delta._as_time(alias ~ '.__dbt_own_time', batch.updated.type, batch.time)) -}}
{%- endmacro %}

{#
    The source's values for the table's columns, as one column. For a key that is gone they come from the open row, if
    the table has that column. Values that the table may alter are beside it, as they were given.
#}
{% macro _staged_values(batch, last=[]) -%}
    {%- set values, given = [], [] -%}
    {%- for column in batch.columns -%}
        {%- set name, was = dbt_delta._quoted(column.name), dbt_delta._column(last, column.name) -%}
        {%- set value = 'cast(null as ' ~ column.type ~ ')' if column.source_type in (none, 'void')
            else dbt_delta._value(column, 'source_data') -%}
        {%- if was is not none -%}
            {%- set old = dbt_delta._conformed('snapshotted_data.' ~ name, was.type, column.type) -%}
            {%- set value = 'if(source_data.__dbt_is_present, ' ~ value ~ ', ' ~ old ~ ')' -%}
        {%- endif -%}
        {%- do values.append(value ~ ' as ' ~ name) -%}
    {%- endfor -%}
    {%- for column in dbt_delta._lossy_columns(batch) -%}
        {%- set name = dbt_delta._quoted(column.source) -%}
        {%- do given.append('source_data.' ~ name ~ ' as ' ~ name) -%}
    {%- endfor -%}
    {{- return(
        'struct(' ~ values | join(', ') ~ ') as __dbt_values'
        ~ (', struct(' ~ given | join(', ') ~ ') as __dbt_given' if given else '')
    ) -}}
{%- endmacro %}

{# Columns whose values the table may store as others. #}
{% macro _lossy_columns(batch) -%}
    {{- return(dbt_delta._value_losses({'columns': batch.columns | selectattr('source') | list}, [])) -}}
{%- endmacro %}

{# The staged rows in the form of an incremental batch; see _check_values. #}
{% macro _staged_batch(batch) -%}
    {{- return({
        'from': '(select __dbt_given.* from ' ~ batch.from ~ ')', 'staging': batch.staging,
        'columns': dbt_delta._lossy_columns(batch),
    }) -}}
{%- endmacro %}

{% macro _any_null(names) -%}{{- return('(' ~ names | join(' is null or ') ~ ' is null)') -}}{%- endmacro %}

{#
    One row about the staged rows. With strategy cdc several rows may have one key; with any other strategy this means
    that the source has the key twice, or that the history has two open rows of it.
#}
{% macro get_snapshot_check_sql(table, batch, settings, bounded) -%}
select
    coalesce(sum(__dbt_staged), 0) as row_count,
    count_if(__dbt_duplicates) as duplicate_keys,
    count_if(__dbt_staged > 1) as staged_twice,
    count_if({{ dbt_delta._any_null(dbt_delta._key_names(batch['keys'])) }} and __dbt_are_present) as null_keys,
    count_if(__dbt_without_time) as without_time,
    count_if(not __dbt_are_known) as new_keys,
    {{ dbt_delta._ends_ahead(table, batch, settings) }} as ends_ahead
    {{- dbt_delta._bound_values(bounded) }}
from (
    select
        {{ dbt_delta._key_names(batch['keys']) | join(', ') }},
        count(*) as __dbt_staged,
        {{ dbt_delta._has_duplicates(table, batch, settings) }} as __dbt_duplicates,
        max({{ dbt_delta._without_time(batch, settings) }}) as __dbt_without_time,
        max(__dbt_is_present) as __dbt_are_present,
        max(__dbt_is_known) as __dbt_are_known
    from {{ batch.from }}
    group by {{ dbt_delta._key_names(batch['keys']) | join(', ') }}
) as __dbt_keys
{%- endmacro %}

{% macro _has_duplicates(table, batch, settings) -%}
    {{- return(
        'max(__dbt_conflicts)' if settings.strategy == 'cdc'
        else 'max(__dbt_rows) > 1' if batch.is_counted
        else 'count(*) > 1' if table is none else 'false'
    ) -}}
{%- endmacro %}

{% macro _without_time(batch, settings) -%}
    {%- if settings.strategy not in ('timestamp', 'cdc') -%}{{- return('false') -}}{%- endif -%}
    {%- set times = dbt_delta._sequence_names(batch) + ['__dbt_own_time'] -%}
    {{- return('(__dbt_is_present and ' ~ dbt_delta._any_null(times) ~ ')') -}}
{%- endmacro %}

{% macro _check_snapshot(table, batch, settings, found) -%}
    {%- set source = 'The source of snapshot ' ~ dbt_delta._named(this) ~ ' has ' -%}
    {%- set staged = 'select * from ' ~ batch.from -%}
    {%- if settings.null_keys == 'error' and found['null_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, source ~ 'null keys',
            staged ~ ' where __dbt_is_present and ' ~ dbt_delta._any_null(dbt_delta._key_names(batch['keys'])),
            'Filter them out, or set null_keys: match, which treats NULL as a key like any other.'
        ) -%}
    {%- elif settings.strategy == 'cdc' and found['duplicate_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, source ~ 'keys with different changes at one sequence', staged ~ ' where __dbt_conflicts',
            'Add a column to cdc_sequence_by (' ~ settings.sequence | join(', ') ~ ') that distinguishes them.'
        ) -%}
    {%- elif settings.strategy != 'cdc' -%}
        {%- set duplicates = dbt_delta.get_duplicate_keys_sql(batch) -%}
        {%- if found['duplicate_keys'] | int > 0 or (
            batch.rows > 0 and table is not none and not batch.is_counted
            and dbt_delta._ask(duplicates ~ '\nlimit 1').rows | length > 0
        ) -%}
            {%- do dbt_delta._refuse_snapshot(
                batch, source ~ 'duplicate keys', duplicates, 'Make it give one row per key.'
            ) -%}
        {%- elif found['staged_twice'] | int > 0 -%}
            {%- set names = dbt_delta._key_names(batch['keys']) | join(', ') -%}
            {%- do dbt_delta._refuse_snapshot(
                batch, 'The history ' ~ dbt_delta._named(this) ~ ' has more than one open row of keys',
                'select ' ~ names ~ ' from ' ~ batch.from ~ ' group by ' ~ names ~ ' having count(*) > 1',
                'Close all of them except the newest. The test scd2_valid finds other faults.'
            ) -%}
        {%- endif -%}
    {%- endif -%}
    {%- if found['without_time'] | int > 0 -%}
        {%- set times = [settings.updated_at] if settings.strategy == 'timestamp'
            else settings.sequence + ([settings.valid_from] if settings.valid_from else []) -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, source ~ 'keys without ' ~ times | join(' or '),
            staged ~ ' where ' ~ dbt_delta._without_time(batch, settings), 'Filter those rows out, or give them a time.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# The key of a row, for messages. #}
{% macro _shown_keys(batch) -%}
    {%- set fields = [] -%}
    {%- for key in batch['keys'] -%}
        {%- do fields.append({'name': key.label, 'value': '__dbt_key_' ~ loop.index}) -%}
    {%- endfor -%}
    {{- return(dbt_delta._shown_json(fields, dbt_delta._masked_here())) -}}
{%- endmacro %}

{# Stops the snapshot with the number of keys and the first five, and drops what was staged. #}
{% macro _refuse_snapshot(batch, problem, keys_sql, way_out) -%}
    {%- set names = dbt_delta._key_names(batch['keys']) | join(', ') -%}
    {%- set rows = dbt_delta._ask(
        'select ' ~ dbt_delta._shown_keys(batch) ~ ' as key, '
        ~ 'count(*) over () as total from (select distinct ' ~ names ~ ' from (\n' ~ keys_sql
        ~ '\n)) order by ' ~ names ~ ' limit 5'
    ).rows -%}
    {%- do dbt_delta._drop(batch.staging) -%}
    {%- do dbt_delta._refuse(
        problem ~ ': ' ~ rows[0]['total'] | int ~ ', the first ' ~ rows | map(attribute='key') | join(', ')
        ~ '. Nothing was written. ' ~ way_out
    ) -%}
{%- endmacro %}
