{#
    Strategies timestamp and check, and users' own strategies: the source is the current state. It is compared with
    the open rows while it is staged. A row that changed or is gone follows the open row of its key.
#}

{# The rows that may change the history, each with the open row that it was compared with. #}
{% macro get_history_stage_sql(table, batch, settings) -%}
{%- set source = dbt_delta._source_data(batch, batch.is_counted) -%}
{%- set columns = dbt_delta._staged_columns(table, batch, settings) -%}
{%- if table is none %}
select
    {{ columns | join(',\n    ') }},
    false as __dbt_is_known, false as __dbt_is_late,
    cast(null as {{ batch.time }}) as __dbt_found_from, cast(null as string) as __dbt_found_id
from {{ source }} as source_data
{%- else -%}
{%- set open_from = 'snapshotted_data.' ~ dbt_delta._quoted(settings.from) -%}
{%- set is_change = dbt_delta._is_change(batch, settings) -%}
select *
from (
    select
        {{ columns | join(',\n        ') }},
        snapshotted_data.__dbt_is_open is not null as __dbt_is_known,
        {%- if settings.late == 'insert' %}
        coalesce(
            snapshotted_data.__dbt_is_open and not {{ is_change }}
            and {{ dbt_delta._own_time(batch, 'source_data') }} < {{ open_from }}, false
        ) as __dbt_is_late,
        {%- else %}
        false as __dbt_is_late,
        {%- endif %}
        {{ open_from }} as __dbt_found_from,
        snapshotted_data.{{ dbt_delta._quoted(settings.id) }} as __dbt_found_id,
        case
            when source_data.__dbt_is_present is null then
                not ({{ dbt_delta._is_deletion(batch, settings, 'snapshotted_data') }})
            else {{ (dbt_delta._row_problems(batch, settings) + [is_change]) | join(' or ') }}
        end as __dbt_is_change
    from {{ source }} as source_data
    {{ 'full' if settings.ends_rows else 'left' }} join {{ dbt_delta._open_rows(table, batch, settings) }} as snapshotted_data
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'source_data', 'snapshotted_data') }}
) as staged
where
    (__dbt_is_change{{ ' and ' ~ dbt_delta._is_not_held(batch) if batch.held and settings.ends_rows }})
    {%- if settings.late == 'insert' %}
    or (__dbt_is_late and not exists (
        {{ dbt_delta._known_times(table, batch, settings) }}
        where {{ dbt_delta._same_snapshot_keys(batch['keys'], 'known', 'staged') }}
            and known.__dbt_known_at = {{ dbt_delta._own_time(batch, 'staged') }}
    ))
    {%- endif %}
{%- endif -%}
{%- endmacro %}

{# Whether a staged row is no key that only an expectation keeps out of the source. #}
{% macro _is_not_held(batch) -%}
(__dbt_is_present or not exists (
        select 1 from (
            select {{ dbt_delta._key_columns(batch['keys'], 'given') | join(', ') }} from {{ batch.held }}
        ) as held
        where {{ dbt_delta._same_snapshot_keys(batch['keys'], 'held', 'staged') }}
    ))
{%- endmacro %}

{# The source, each row with its keys and its time, and with is_counted the number of rows of its key. #}
{% macro _source_data(batch, is_counted=false) -%}
{%- set keys = dbt_delta._key_names(batch['keys']) | join(', ') -%}
(
    select *{{ ', count(*) over (partition by ' ~ keys ~ ') as __dbt_rows' if is_counted }}
    from (
        select
            *,
            {{ dbt_delta._key_columns(batch['keys'], 'given') | join(', ') }},
            {{ batch.updated.text }} as __dbt_own_time,
            {{ batch.scd_id ~ ' as __dbt_scd_id, ' if batch.scd_id }}true as __dbt_is_present
            {%- for key in batch['keys'] | selectattr('altered') -%}
                {{ ',\n            ' if loop.first else ' or ' }}({{ key.altered }}) is true
                {{- ' as __dbt_is_other_key' if loop.last }}
            {%- endfor %}
        from (
            select *, {{ snapshot_get_time() }} as __dbt_now
            from (
{{ batch.sql }}
            ) as __dbt_model
        ) as __dbt_timed
    ) as __dbt_keyed
)
{%- endmacro %}

{# Keys that are gone come from the history, with their last values if their deletion becomes a row. #}
{% macro _staged_columns(table, batch, settings) -%}
    {%- set ends_rows = table is not none and settings.ends_rows -%}
    {%- set columns = [
        dbt_delta._staged_values(batch, table.columns if ends_rows and settings.keeps_deletions else []),
        'coalesce(source_data.__dbt_now, ' ~ snapshot_get_time() ~ ') as __dbt_now',
        'source_data.__dbt_is_present is not null as __dbt_is_present',
        'source_data.__dbt_own_time',
    ] -%}
    {%- for name in dbt_delta._key_names(batch['keys']) -%}
        {%- do columns.append(
            ('if(source_data.__dbt_is_present, source_data.' ~ name ~ ', snapshotted_data.' ~ name ~ ')'
                if ends_rows else 'source_data.' ~ name) ~ ' as ' ~ name
        ) -%}
    {%- endfor -%}
    {%- if batch.scd_id -%}{%- do columns.append('source_data.__dbt_scd_id') -%}{%- endif -%}
    {%- if batch.is_counted -%}{%- do columns.append('source_data.__dbt_rows') -%}{%- endif -%}
    {{- return(columns) -}}
{%- endmacro %}

{# The open rows of the history, with which the source is compared. #}
{% macro _open_rows(table, batch, settings) -%}
(
    select *, {{ dbt_delta._key_columns(batch['keys']) | join(', ') }}, true as __dbt_is_open
    from {{ table.name }}
    where {{ dbt_delta._is_open(batch, settings) }}
)
{%- endmacro %}

{# Whether the source row differs from the key's open row, in a join of source_data and snapshotted_data. #}
{% macro _is_change(batch, settings) -%}
    {%- set conditions = ['snapshotted_data.__dbt_is_open is null', '(' ~ batch.row_changed ~ ')'] -%}
    {%- if batch.has_deletions -%}
        {%- do conditions.append(dbt_delta._is_deletion(batch, settings, 'snapshotted_data')) -%}
    {%- endif -%}
    {{- return('(' ~ conditions | join(' or ') ~ ')') -}}
{%- endmacro %}

{# Rows that are staged only to be refused. #}
{% macro _row_problems(batch, settings) -%}
    {%- set problems = ['source_data.__dbt_own_time is null'] if settings.strategy == 'timestamp' else [] -%}
    {%- if settings.null_keys == 'error' -%}
        {%- do problems.append(dbt_delta._any_null(dbt_delta._key_names(batch['keys'], 'source_data'))) -%}
    {%- endif -%}
    {%- if batch['keys'] | selectattr('altered') | list -%}
        {%- do problems.append('source_data.__dbt_is_other_key') -%}
    {%- endif -%}
    {{- return(problems) -}}
{%- endmacro %}

{# The times of a key in the history: a row that came back may begin later than its own time. #}
{% macro _known_times(table, batch, settings) -%}
{%- set found_from = dbt_delta._quoted(settings.from) -%}
{%- set own_of_known = dbt_delta._as_time(dbt_delta._quoted(settings.updated), batch.updated_type, batch.time) -%}
select 1
from (
    select
        explode(array({{ found_from }}, {{ own_of_known }})) as __dbt_known_at,
        {{ dbt_delta._key_columns(batch['keys']) | join(', ') }}
    from {{ table.name }}
) as known
{%- endmacro %}

{# Keys with staged rows that the source has more than once, even if one of the rows is not a change. #}
{% macro get_duplicate_keys_sql(batch) -%}
{%- set names = dbt_delta._key_names(batch['keys']) | join(', ') -%}
select {{ names }}
from {{ dbt_delta._source_data(batch) }} as source_data
left semi join {{ batch.from }} as staged
    on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'source_data', 'staged') }}
group by {{ names }}
having count(*) > 1
{%- endmacro %}

{# The staged rows as events; see _events.sql. #}
{% macro _history_events(table, batch, settings) -%}
{%- set id = '__dbt_scd_id' if batch.scd_id else dbt_delta._scd_id(
    batch, [{'text': '__dbt_at', 'type': batch.time}], is_doubled='__dbt_at <= __dbt_last and not __dbt_is_late'
) -%}
{%- set deletion = snapshot_hash_arguments(['__dbt_found_id', dbt_delta._id_text('__dbt_at', batch.time)])
    if settings.keeps_deletions else none -%}
select
    {{ dbt_delta._key_names(batch['keys']) | join(', ') }},
    __dbt_at, not __dbt_is_present as __dbt_is_delete, false as __dbt_is_mark,
    __dbt_is_known, __dbt_found_id, __dbt_is_late,
    {{ 'if(__dbt_is_present, ' ~ id ~ ', ' ~ deletion ~ ')' if deletion else id }} as __dbt_id,
    if(
        __dbt_is_present and __dbt_own_time is not null,
        {{ dbt_delta._as_time('__dbt_own_time', batch.updated.type, batch.updated_type) }},
        {{ dbt_delta._as_time('__dbt_at', batch.time, batch.updated_type) }}
    ) as __dbt_updated,
    __dbt_values
from (
    select *, {{ dbt_delta._change_time(table, batch, settings) }} as __dbt_at
    from (
        {%- if batch.has_ended_keys %}
        select
            staged.*,
            coalesce(staged.__dbt_found_id, ended.__dbt_count) as __dbt_before,
            coalesce(staged.__dbt_found_from, ended.__dbt_ended) as __dbt_last
        from {{ batch.from }} as staged
        left join {{ dbt_delta._ended_rows(table, batch, settings) }} as ended
            on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'staged', 'ended') }}
        {%- else %}
        select *, __dbt_found_id as __dbt_before, __dbt_found_from as __dbt_last from {{ batch.from }}
        {%- endif %}
    ) as staged
) as changes
{%- endmacro %}

{#
    When a change begins: at the source's own time, or after the key's newest time in the history. __dbt_last is when
    the key's open row began, or when its last row ended.
#}
{% macro _change_time(table, batch, settings) -%}
{%- set own, now = dbt_delta._own_time(batch, 'staged'), dbt_delta._run_time(table, batch, settings) -%}
{%- set next = '__dbt_last' if batch.time == 'date'
    else 'timestampadd(microsecond, 1, __dbt_last)' if batch.time in ('timestamp', 'timestamp_ntz') else now -%}
case
        when __dbt_is_late then {{ own }}
        when __dbt_is_present and (__dbt_last is null or {{ own }} > __dbt_last
            or ({{ own }} = __dbt_last and not __dbt_is_known))
            then coalesce({{ own }}, {{ now }})
        when __dbt_last is null or {{ now }} > __dbt_last then {{ now }}
        else {{ next }}
    end
{%- endmacro %}

{# The time of the run in the type of dbt_valid_from. #}
{% macro _run_time(table, batch, settings) -%}
    {%- set is_first = table is none and settings.strategy != 'timestamp' -%}
    {%- if is_first or batch.time in ('timestamp', 'timestamp_ntz', 'date') -%}
        {{- return(dbt_delta._as_time('__dbt_now', 'timestamp', batch.time)) -}}
    {%- endif -%}
    {{- return('cast(raise_error(' ~ dbt_delta._literal(
        dbt_delta._named(this) ~ ' must store the time of this run, but dbt_valid_from is of type ' ~ batch.time
        ~ '. Nothing was written. Use an updated_at of type timestamp or date.'
    ) ~ ') as ' ~ batch.time ~ ')') -}}
{%- endmacro %}

{# Whether a key without an open row has ended rows: its last row says when it ended. #}
{% macro _find_ended_keys(table, batch, settings, new_keys) -%}
    {%- if not new_keys or table is none or settings.strategy == 'cdc' -%}{{- return(false) -}}{%- endif -%}
    {{- return(dbt_delta._ask(
        'select 1 from ' ~ dbt_delta._ended_rows(table, batch, settings) ~ ' as ended limit 1'
    ).rows | length > 0) -}}
{%- endmacro %}

{# For keys without an open row: when their last row ended, and how many rows they had. #}
{% macro _ended_rows(table, batch, settings) -%}
{%- set keys = dbt_delta._key_names(batch['keys']) | join(', ') -%}
(
    select {{ keys }}, max(__dbt_until) as __dbt_ended, cast(count(*) as string) as __dbt_count
    from {{ dbt_delta._known_rows(
        table, batch, settings, '(select * from ' ~ batch.from ~ ' where not __dbt_is_known)',
        ['not ' ~ dbt_delta._is_open(batch, settings)]
    ) }} as known
    group by {{ keys }}
)
{%- endmacro %}
