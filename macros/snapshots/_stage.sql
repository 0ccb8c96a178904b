{#
    Evaluates the source once, next to the rows that are open, and keeps what may change the
    history, with what is wrong with it; then looks at that. Refuses before anything is written. Gives the batch with
    {rows, bounds, has_ended_keys}: how many are staged, bounds of their keys, whether some have ended rows only.
#}
{% macro _stage_snapshot(table, batch, settings) -%}
    {%- do dbt_delta._drop_leftovers(this) -%}
    {%- set select = dbt_delta.get_cdc_stage_sql(table, batch, settings) if settings.strategy == 'cdc'
        else dbt_delta.get_snapshot_stage_sql(table, batch, settings) -%}
    {%- do run_query(dbt_delta.get_create_staging_sql(batch.from, select)) -%}
    {%- set bounded, types = [], [] -%}
    {%- for key in batch['keys'] -%}
        {%- set column = dbt_delta._column(table.columns, key.name) if table and key.name else none -%}
        {%- if column is not none and dbt_delta._is_bounded(column) -%}
            {%- do bounded.append(dbt_delta._bounded_key(table, column, '__dbt_key_' ~ loop.index)) -%}
            {#- Keys that are gone come from the table, and may be too great for the source's type. -#}
            {%- do types.append({
                'name': column.name,
                'type': column.type if dbt_delta._widens(key.type, column.type) else key.type,
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set found = run_query(dbt_delta.get_snapshot_check_sql(table, batch, settings, bounded)).rows[0] -%}
    {%- set batch = dict(
        batch, rows=found['row_count'] | int, bounds=dbt_delta._found_bounds(bounded, found, types)
    ) -%}
    {%- do dbt_delta._check_snapshot(table, batch, settings, found) -%}
    {%- do dbt_delta._check_open_ends(table, batch, settings) if found['ends_ahead'] | int > 0 -%}
    {{- return(dict(
        batch, has_ended_keys=dbt_delta._find_ended_keys(table, batch, settings, found['new_keys'] | int)
    )) -}}
{%- endmacro %}

{# Keys as columns of their own, by an alias of what they are read from. #}
{% macro _key_columns(keys) -%}
    {%- set columns = [] -%}
    {%- for key in keys -%}{%- do columns.append(key.text ~ ' as __dbt_key_' ~ loop.index) -%}{%- endfor -%}
    {{- return(columns | join(', ')) -}}
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

{# What dbt_valid_to of an open row is. #}
{% macro _current(batch, settings) -%}
    {{- return('cast(' ~ (settings.current or 'null') ~ ' as ' ~ batch.time ~ ')') -}}
{%- endmacro %}

{# Rows of the history by which the source is judged: those that are open. #}
{% macro _open_rows(table, batch, settings) -%}
(
    select *, {{ dbt_delta._key_columns(batch['keys']) }}, true as __dbt_is_open
    from {{ table.name }}
    where {{ dbt_delta._is_open(batch, settings) }}
)
{%- endmacro %}

{# The open row says that the key was gone. #}
{% macro _is_deletion(batch, settings, alias=none) -%}
    {%- if not batch.has_deletions -%}{{- return('false') -}}{%- endif -%}
    {%- set flag = (alias ~ '.' if alias else '') ~ dbt_delta._quoted(settings.deleted) -%}
    {{- return('lower(cast(' ~ flag ~ " as string)) <=> 'true'") -}}
{%- endmacro %}

{# Whether the source row differs from the key's open row, of a join of source_data and snapshotted_data. #}
{% macro _is_change(batch, settings) -%}
    {%- set conditions = ['snapshotted_data.__dbt_is_open is null', '(' ~ batch.row_changed ~ ')'] -%}
    {%- if batch.has_deletions -%}
        {%- do conditions.append(dbt_delta._is_deletion(batch, settings, 'snapshotted_data')) -%}
    {%- endif -%}
    {{- return('(' ~ conditions | join(' or ') ~ ')') -}}
{%- endmacro %}


{# The source, each row with its keys and its time. #}
{% macro _source_data(batch) -%}
(
    select
        *,
        {{ dbt_delta._key_columns(batch['keys']) }},
        {{ batch.updated.text }} as __dbt_updated_at,
        {%- if batch.scd_id %}
        {{ batch.scd_id }} as __dbt_scd_id,
        {%- endif %}
        true as __dbt_is_present
    from (
        select *, {{ snapshot_get_time() }} as __dbt_now
        from (
{{ batch.sql }}
        ) as __dbt_model
    ) as __dbt_timed
)
{%- endmacro %}

{# The same with the number of rows of each key, where counting them later would be expensive. #}
{% macro _counted_source_data(batch) -%}
    {%- set source = dbt_delta._source_data(batch) -%}
    {%- if not batch.is_counted -%}{{- return(source) -}}{%- endif -%}
    {{- return(
        '(\n    select *, count(*) over (partition by ' ~ dbt_delta._key_names(batch['keys']) | join(', ')
        ~ ') as __dbt_rows\n    from ' ~ source ~ ' as __dbt_keyed\n)'
    ) -}}
{%- endmacro %}

{#
    What may change the history, with the values of the table's columns as `held`, of a key that is gone
    the last ones. __dbt_found_from and __dbt_found_id name the open row by which it was judged.
#}
{% macro get_snapshot_stage_sql(table, batch, settings) -%}
{%- if table is none -%}{{- return(dbt_delta._first_stage(batch, settings)) -}}{%- endif -%}
{%- set columns = dbt_delta._staged_columns(table, batch, settings) + dbt_delta._staged_keys(batch, settings) -%}
{%- set open_from = 'snapshotted_data.' ~ dbt_delta._quoted(settings.from) -%}
select *
from (
    select
        {{ columns | join(',\n        ') }},
        source_data.__dbt_updated_at,
        {{ 'coalesce(source_data.__dbt_now, ' ~ snapshot_get_time() ~ ')' if settings.ends_rows else 'source_data.__dbt_now' }} as __dbt_now,
        source_data.__dbt_is_present is not null as __dbt_is_present,
        snapshotted_data.__dbt_is_open is not null as __dbt_is_known,
        {{ open_from }} as __dbt_found_from,
        snapshotted_data.{{ dbt_delta._quoted(settings.id) }} as __dbt_found_id,
        {%- if settings.late == 'insert' %}
        coalesce(
            snapshotted_data.__dbt_is_open and not {{ dbt_delta._is_change(batch, settings) }}
            and {{ dbt_delta._own_time(batch, 'source_data') }} < {{ open_from }}, false
        ) as __dbt_is_late,
        {%- else %}
        false as __dbt_is_late,
        {%- endif %}
        case
            when source_data.__dbt_is_present is null then
                not ({{ dbt_delta._is_deletion(batch, settings, 'snapshotted_data') }})
            else {{ (dbt_delta._row_problems(batch, settings) + [dbt_delta._is_change(batch, settings)]) | join(' or ') }}
        end as __dbt_is_change
    from {{ dbt_delta._counted_source_data(batch) }} as source_data
    {{ 'full' if settings.ends_rows else 'left' }} join {{ dbt_delta._open_rows(table, batch, settings) }} as snapshotted_data
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'source_data', 'snapshotted_data') }}
) as staged
where
    __dbt_is_change
    {%- if settings.late == 'insert' %}
    or (__dbt_is_late and not exists (
        {{ dbt_delta._known_times(table, batch, settings) }}
        where {{ dbt_delta._same_snapshot_keys(batch['keys'], 'known', 'staged') }}
            and known.__dbt_known_at = {{ dbt_delta._own_time(batch, 'staged') }}
    ))
    {%- endif %}
{%- endmacro %}

{# The same where there is no history yet: each row of the source. #}
{% macro _first_stage(batch, settings) -%}
select
    {{ dbt_delta._staged_columns(none, batch, settings) | join(',\n    ') }},
    {{ dbt_delta._key_names(batch['keys'], 'source_data') | join(', ') }},
    source_data.__dbt_updated_at, source_data.__dbt_now,
    true as __dbt_is_present, false as __dbt_is_known, false as __dbt_is_late
from {{ dbt_delta._counted_source_data(batch) }} as source_data
{%- endmacro %}

{% macro _staged_columns(table, batch, settings) -%}
    {%- set keeps_last = table is not none and settings.ends_rows and settings.hard_deletes == 'new_record' -%}
    {%- set columns = [] -%}
    {%- for column in batch.columns -%}
        {%- set value = 'cast(null as ' ~ column.type ~ ')' if column.source_type in (none, 'void')
            else dbt_delta._value(column, 'source_data') -%}
        {%- if keeps_last and dbt_delta._column(table.columns, column.name) -%}
            {%- set value = 'if(source_data.__dbt_is_present, ' ~ value ~ ', snapshotted_data.'
                ~ dbt_delta._quoted(column.name) ~ ')' -%}
        {%- endif -%}
        {%- do columns.append(value ~ ' as ' ~ column.held) -%}
    {%- endfor -%}
    {%- if batch.scd_id -%}{%- do columns.append('source_data.__dbt_scd_id') -%}{%- endif -%}
    {%- if batch.is_counted -%}{%- do columns.append('source_data.__dbt_rows') -%}{%- endif -%}
    {{- return(columns) -}}
{%- endmacro %}

{# Where keys that are gone end, they come from the history. #}
{% macro _staged_keys(batch, settings) -%}
    {%- set columns = [] -%}
    {%- for name in dbt_delta._key_names(batch['keys']) -%}
        {%- do columns.append(
            ('if(source_data.__dbt_is_present, source_data.' ~ name ~ ', snapshotted_data.' ~ name ~ ')'
                if settings.ends_rows else 'source_data.' ~ name) ~ ' as ' ~ name
        ) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{# What is staged to be refused. #}
{% macro _row_problems(batch, settings) -%}
    {{- return(
        (['source_data.__dbt_updated_at is null'] if settings.strategy == 'timestamp' else [])
        + ([dbt_delta._any_null(batch['keys'], 'source_data')] if settings.null_keys == 'error' else [])
    ) -}}
{%- endmacro %}

{# The source's own time of a staged row, as dbt_valid_from holds times. #}
{% macro _own_time(batch, alias) -%}
    {{- return(dbt_delta._as_time(alias ~ '.__dbt_updated_at', batch.updated.type, batch.time)) -}}
{%- endmacro %}

{# The times that the history has of a key already: a row that came back begins later than its own time. #}
{% macro _known_times(table, batch, settings) -%}
{%- set found_from = dbt_delta._quoted(settings.from) -%}
{%- set own_of_known = dbt_delta._as_time(dbt_delta._quoted(settings.updated), batch.updated_type, batch.time) -%}
select 1
from (
    select
        explode(array({{ found_from }}, {{ own_of_known }})) as __dbt_known_at,
        {{ dbt_delta._key_columns(batch['keys']) }}
    from {{ table.name }}
) as known
{%- endmacro %}

{# What was staged as a batch of an incremental run is described; see _check_values. #}
{% macro _staged_values(batch, settings) -%}
    {%- set columns = [] -%}
    {%- for column in batch.columns -%}
        {%- if column.source -%}
            {%- do columns.append(dict(
                column, source=column.source if settings.strategy == 'cdc' else column.held
            )) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({'from': batch.from, 'staging': batch.staging, 'columns': columns}) -}}
{%- endmacro %}

{% macro _any_null(keys, alias=none) -%}
    {%- set conditions = [] -%}
    {%- for name in dbt_delta._key_names(keys, alias) -%}{%- do conditions.append(name ~ ' is null') -%}{%- endfor -%}
    {{- return('(' ~ conditions | join(' or ') ~ ')') -}}
{%- endmacro %}

{#
    One row about what was staged. Of the cdc strategy several rows may have one key; of any other
    they come from the source twice, or met two open rows.
#}
{% macro get_snapshot_check_sql(table, batch, settings, bounded) -%}
select
    coalesce(sum(__dbt_staged), 0) as row_count,
    count_if(__dbt_duplicates) as duplicate_keys,
    count_if(__dbt_staged > 1) as staged_twice,
    count_if({{ dbt_delta._any_null(batch['keys']) }} and __dbt_are_present) as null_keys,
    count_if(__dbt_without_time) as without_time,
    count_if(not __dbt_are_known) as new_keys,
    {{ dbt_delta._ends_ahead(table, batch, settings) }} as ends_ahead
    {{- dbt_delta._bound_values(bounded) }}
from (
    select
        {{ dbt_delta._key_names(batch['keys']) | join(', ') }},
        count(*) as __dbt_staged,
        {{ dbt_delta._has_duplicates(table, batch, settings) }} as __dbt_duplicates,
        max({{ dbt_delta._without_time(settings) }}) as __dbt_without_time,
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

{# Keys that are staged and come from the source more than once, also where one of the rows is no change. #}
{% macro get_duplicate_keys_sql(batch) -%}
{%- set names = dbt_delta._key_names(batch['keys']) | join(', ') -%}
select {{ names }}
from {{ dbt_delta._source_data(batch) }} as source_data
left semi join {{ batch.from }} as staged
    on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'source_data', 'staged') }}
group by {{ names }}
having count(*) > 1
{%- endmacro %}

{% macro _without_time(settings) -%}
    {{- return(
        '__dbt_is_present and __dbt_updated_at is null' if settings.strategy == 'timestamp'
        else '__dbt_without_time' if settings.strategy == 'cdc' else 'false'
    ) -}}
{%- endmacro %}

{% macro _check_snapshot(table, batch, settings, found) -%}
    {%- set source = 'The source of snapshot ' ~ dbt_delta._named(this) ~ ' has ' -%}
    {%- set staged = 'select * from ' ~ batch.from -%}
    {%- if settings.null_keys == 'error' and found['null_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, source ~ 'null keys',
            staged ~ ' where __dbt_is_present and ' ~ dbt_delta._any_null(batch['keys']),
            'Filter them out, or set null_keys: match, by which NULL is a key like any other.'
        ) -%}
    {%- elif settings.strategy == 'cdc' and found['duplicate_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, source ~ 'keys with different changes of one sequence', staged ~ ' where __dbt_conflicts',
            'Add a column to cdc_sequence_by that tells them apart: ' ~ settings.sequence | join(', ') ~ ' do not.'
        ) -%}
    {%- elif settings.strategy != 'cdc' -%}
        {%- set duplicates = dbt_delta.get_duplicate_keys_sql(batch) -%}
        {%- if found['duplicate_keys'] | int > 0 or (
            batch.rows > 0 and table is not none and not batch.is_counted
            and run_query(duplicates ~ '\nlimit 1').rows | length > 0
        ) -%}
            {%- do dbt_delta._refuse_snapshot(
                batch, source ~ 'duplicate keys', duplicates, 'Make it give one row per key.'
            ) -%}
        {%- elif found['staged_twice'] | int > 0 -%}
            {%- set names = dbt_delta._key_names(batch['keys']) | join(', ') -%}
            {%- do dbt_delta._refuse_snapshot(
                batch, 'The history ' ~ dbt_delta._named(this) ~ ' has more than one open row of keys',
                'select ' ~ names ~ ' from ' ~ batch.from ~ ' group by ' ~ names ~ ' having count(*) > 1',
                'Close all of them but the newest; the test scd2_valid finds what else is wrong.'
            ) -%}
        {%- endif -%}
    {%- endif -%}
    {%- if found['without_time'] | int > 0 -%}
        {%- set times = [settings.updated_at] if settings.strategy == 'timestamp'
            else settings.sequence + ([settings.valid_from] if settings.valid_from else []) -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, source ~ 'keys without ' ~ times | join(' or '),
            staged ~ ' where ' ~ dbt_delta._without_time(settings), 'Filter those rows out, or give them a time.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# The key of a row as messages show it. #}
{% macro _shown_keys(batch) -%}
    {%- set fields = [] -%}
    {%- for key in batch['keys'] -%}
        {%- do fields.append({'name': key.label, 'value': '__dbt_key_' ~ loop.index}) -%}
    {%- endfor -%}
    {{- return(dbt_delta._shown_json(fields, dbt_delta._masked_here())) -}}
{%- endmacro %}

{# Stops the snapshot, counting the keys and naming the first five, and leaves nothing behind. #}
{% macro _refuse_snapshot(batch, problem, keys_sql, way_out) -%}
    {%- set names = dbt_delta._key_names(batch['keys']) | join(', ') -%}
    {%- set rows = run_query(
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
