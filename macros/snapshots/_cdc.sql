{#
    Strategy cdc: the source is a feed of changes, several of one key in any order, and some of them
    say that the key is gone. The order is that of cdc_sequence_by.
#}
{% macro _cdc_strategy(source_columns, table, settings) -%}
    {%- set sequence, types = [], [] -%}
    {%- for name in settings.sequence -%}
        {%- set column = dbt_delta._column(source_columns, name) -%}
        {%- if column is none -%}
            {%- do dbt_delta._refuse(
                "cdc_sequence_by names '" ~ name ~ "', which the source does not give. Its columns are "
                ~ source_columns | map(attribute='name') | join(', ') ~ '.'
            ) -%}
        {%- endif -%}
        {%- set stored = dbt_delta._column(table.columns, column.name) if table else none -%}
        {%- do sequence.append(dbt_delta._quoted(column.name)) -%}
        {%- do types.append('timestamp' if stored is not none and stored.type == 'timestamp' else column.type) -%}
    {%- endfor -%}
    {%- set time = dbt_delta._column_or_expression(source_columns, settings.valid_from or settings.sequence[0]) -%}
    {{- return({
        'updated': time, 'row_changed': none, 'scd_id': none, 'sequence': sequence, 'sequence_types': types,
        'times': sequence if time.text == sequence[0] else sequence + [time.text],
    }) -}}
{%- endmacro %}

{% macro _sequence_columns(batch) -%}
    {%- set columns = [] -%}
    {%- for name in batch.sequence -%}{%- do columns.append(name ~ ' as __dbt_sequence_' ~ loop.index) -%}{%- endfor -%}
    {{- return(columns | join(', ')) -}}
{%- endmacro %}

{% macro _sequence_names(batch, alias=none, order='') -%}
    {%- set names = [] -%}
    {%- for name in batch.sequence -%}
        {%- do names.append((alias ~ '.' if alias else '') ~ '__dbt_sequence_' ~ loop.index ~ order) -%}
    {%- endfor -%}
    {{- return(names | join(', ')) -}}
{%- endmacro %}

{# The changes without copies of one another; for the latest state the last one of each key only. #}
{% macro get_cdc_stage_sql(table, batch, settings) -%}
{%- set keys, sequence = dbt_delta._key_names(batch['keys']) | join(', '), dbt_delta._sequence_names(batch) -%}
{%- set columns, compared, missing = [], [], [] -%}
{%- for column in batch.source_columns -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {%- do columns.append('cast(null as string) as ' ~ name if column.type == 'void' else name) -%}
    {#- A hash of several values leaves out those that are NULL. -#}
    {%- do compared.extend([dbt_delta._comparable(name, column.type), name ~ ' is null']) -%}
{%- endfor -%}
{%- for time in batch.times -%}{%- do missing.append(time ~ ' is null') -%}{%- endfor -%}
select *
from (
    select
        *,
        row_number() over (partition by {{ keys }}, {{ sequence }} order by __dbt_hash) as __dbt_copy,
        min(__dbt_hash) over (partition by {{ keys }}, {{ sequence }})
        < max(__dbt_hash) over (partition by {{ keys }}, {{ sequence }}) as __dbt_conflicts
        {%- if settings.scd_type == 1 %},
        dense_rank() over (partition by {{ keys }} order by {{ dbt_delta._sequence_names(batch, order=' desc') }}) as __dbt_rank
        {%- endif %}
    from (
        select
            {{ columns | join(',\n            ') }},
            {{ dbt_delta._key_columns(batch['keys']) }},
            {{ dbt_delta._sequence_columns(batch) }},
            {{ batch.updated.text }} as __dbt_valid_from,
            {{ '(' ~ settings.delete_when ~ ') is true' if settings.delete_when else 'false' }} as __dbt_is_delete,
            xxhash64({{ compared | join(', ') }}) as __dbt_hash,
            {{ missing | join(' or ') }} as __dbt_without_time,
            true as __dbt_is_present,
            false as __dbt_is_known
        from (
{{ batch.sql }}
        ) as __dbt_model
    ) as events
) as ranked
where (__dbt_copy = 1{{ ' and __dbt_rank = 1' if settings.scd_type == 1 }}) or __dbt_conflicts or __dbt_without_time
{%- endmacro %}

{#
    A deletion that is no row of its own (hard_deletes: new_record) is kept as one that ends as it begins, so
    that a change which arrives later, and is older, finds it. No moment lies in it; its id says what it is.
#}
{% macro _deletion_mark() -%}{{- return('deleted ') -}}{%- endmacro %}

{#
    All changes of the keys concerned, those that the table has and the new ones, in their order:
    each row is valid until the next begins. Where the table has an end and no next row, the key was
    gone from then on. An end comes before the rows of its time, but for that of a row which ended as it
    began: it follows its row.
#}
{% macro _cdc_events(table, batch, settings) -%}
{{ dbt_delta._new_events(batch, settings) }}
    {%- if table is not none %}
    union all
{{ dbt_delta._known_events(table, batch, settings) }}
    {%- endif %}
{%- endmacro %}

{# The changes that the feed brings. #}
{% macro _new_events(batch, settings) -%}
    select
        'new' as __dbt_side,
        {{ dbt_delta._key_names(batch['keys'], 'events') | join(', ') }}, {{ dbt_delta._sequence_names(batch, 'events') }},
        {{ dbt_delta._as_time('events.__dbt_valid_from', batch.updated.type, batch.time) }} as __dbt_at,
        cast(null as {{ batch.time }}) as __dbt_until,
        cast(null as string) as __dbt_known_id,
        false as __dbt_is_before,
        events.__dbt_is_delete,
        events.__dbt_is_delete and {{ settings.marks_deletions | lower }} as __dbt_is_mark,
        {{ dbt_delta._event_values(batch) | join(', ') }}
    from {{ batch.from }} as events
{%- endmacro %}

{% macro _event_values(batch) -%}
    {%- set values = [] -%}
    {%- for column in batch.columns -%}
        {%- do values.append(
            (dbt_delta._value(column, 'events') if column.source else 'cast(null as ' ~ column.type ~ ')')
            ~ ' as ' ~ column.held
        ) -%}
    {%- endfor -%}
    {{- return(values) -}}
{%- endmacro %}

{# The rows that the table has of the same keys, and their ends. #}
{% macro _known_events(table, batch, settings) -%}
{%- set id, bounds, stored = dbt_delta._quoted(settings.id), dbt_delta._unaliased_bounds(batch), [] -%}
{%- for column in batch.columns -%}
    {%- do stored.append(
        (dbt_delta._quoted(column.name) if dbt_delta._column(table.columns, column.name)
            and dbt_delta._keeps_deletions(settings) else 'cast(null as ' ~ column.type ~ ')') ~ ' as ' ~ column.held
    ) -%}
{%- endfor %}
    select
        __dbt_side,
        {{ dbt_delta._key_names(batch['keys']) | join(', ') }}, {{ dbt_delta._sequence_names(batch) }},
        if(__dbt_side = 'end', __dbt_until, __dbt_at) as __dbt_at,
        __dbt_until, __dbt_known_id,
        __dbt_side = 'end' and __dbt_until > __dbt_at as __dbt_is_before,
        __dbt_is_mark or __dbt_is_flagged as __dbt_is_delete,
        __dbt_is_mark,
        {{ dbt_delta._held(batch) | join(', ') }}
    from (
        select *
        from (
            select
                {{ dbt_delta._key_columns(batch['keys']) }},
                {{ dbt_delta._sequence_columns(batch) }},
                {{ dbt_delta._quoted(settings.from) }} as __dbt_at,
                if({{ dbt_delta._is_open(batch, settings) }}, null, {{ dbt_delta._quoted(settings.to) }}) as __dbt_until,
                {{ id }} as __dbt_known_id,
                startswith({{ id }}, {{ dbt_delta._literal(dbt_delta._deletion_mark()) }}) as __dbt_is_mark,
                {{ dbt_delta._is_deletion(batch, settings) }} as __dbt_is_flagged,
                {{ stored | join(', ') }}
            from {{ table.name }}
            {%- if bounds %}
            where {{ bounds | join(' and ') }}
            {%- endif %}
        ) as known
        left semi join {{ batch.from }} as events
            on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'known', 'events') }}
    ) as known
    lateral view explode(array('row', 'end')) as __dbt_side
    where __dbt_side = 'row' or (__dbt_until is not null and not __dbt_is_mark)
{%- endmacro %}

{# Whether the table has a row for each deletion of a feed. #}
{% macro _keeps_deletions(settings) -%}
    {{- return(settings.hard_deletes == 'new_record' or settings.marks_deletions) -}}
{%- endmacro %}

{#
    What a row of a feed holds, of its columns and of `last`: a deletion has its own place in the order, and what
    its key had last before. {values, is_stale}; stale is what the table holds since an older change arrived.
#}
{% macro _cdc_values(batch, settings) -%}
    {%- set values, same = [], [] -%}
    {%- for column in batch.columns -%}
        {%- set name = column.held -%}
        {%- if dbt_delta._keeps_deletions(settings) and dbt_delta._quoted(column.name) not in batch.sequence -%}
            {%- do values.append(
                'if(__dbt_is_delete and __dbt_last is not null, __dbt_last.' ~ name ~ ', ' ~ name ~ ') as ' ~ name
            ) -%}
            {%- do same.append(
                dbt_delta._comparable(name, column.type) ~ ' <=> ' ~ dbt_delta._comparable('__dbt_last.' ~ name, column.type)
            ) -%}
        {%- else -%}
            {%- do values.append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({
        'values': values,
        'is_stale': '(__dbt_is_delete and __dbt_last is not null and not (' ~ same | join(' and ') ~ '))' if same else 'false',
    }) -}}
{%- endmacro %}

{% macro get_cdc_operations_sql(table, batch, settings) -%}
{%- set keeps_deletes, has_own_time = dbt_delta._keeps_deletions(settings), dbt_delta._has_own_time(batch) -%}
{%- set id = dbt_delta._scd_id(batch, dbt_delta._event_times(batch)) -%}
{%- set held = dbt_delta._cdc_values(batch, settings) -%}
with events as (
{{ dbt_delta._cdc_events(table, batch, settings) }}
),

{{ dbt_delta._placed_events(batch, settings) }}

select
    {%- if has_own_time %}
    if(__dbt_is_disordered, raise_error({{ dbt_delta._literal(
        'cdc_valid_from ' ~ settings.valid_from ~ ' goes back while cdc_sequence_by goes on, for a key of '
        ~ dbt_delta._named(this) ~ ': '
    ) }} || {{ dbt_delta._shown_keys(batch) }} || '. Nothing was written. Correct the feed, or leave cdc_valid_from out.'),
    {%- endif %}
    if(__dbt_side = 'row', 'update', 'insert')
    {{- ')' if has_own_time }} as __dbt_operation,
    {{ dbt_delta._key_names(batch['keys']) | join(', ') }},
    __dbt_known_id as __dbt_found_id,
    __dbt_at,
    coalesce(__dbt_next, {{ dbt_delta._current(batch, settings) }}) as __dbt_to,
    if(__dbt_is_mark, concat({{ dbt_delta._literal(dbt_delta._deletion_mark()) }}, {{ id }}), {{ id }}) as __dbt_id,
    {{ dbt_delta._as_time('__dbt_at', batch.time, batch.updated_type) }} as __dbt_updated,
    __dbt_is_delete as __dbt_deleted,
    {{ held['values'] | join(', ') }}
from placed
where
    (__dbt_side = 'new'{{ ' and not __dbt_is_delete' if not keeps_deletes }})
    or (__dbt_side = 'row' and (not (__dbt_next <=> __dbt_until){{ ' or ' ~ held.is_stale if keeps_deletes }}))
{%- endmacro %}

{# Whether rows of a feed begin at another time than that of their order. #}
{% macro _has_own_time(batch) -%}{{- return(batch.times | length > batch.sequence | length) -}}{%- endmacro %}

{# The times that make the id of a row of a feed: {text, type}. #}
{% macro _event_times(batch) -%}
    {%- set times = [] -%}
    {%- for type in batch.sequence_types -%}
        {%- do times.append({'text': '__dbt_sequence_' ~ loop.index, 'type': type}) -%}
    {%- endfor -%}
    {{- return(times + ([{'text': '__dbt_at', 'type': batch.time}] if dbt_delta._has_own_time(batch) else [])) -}}
{%- endmacro %}

{# The events that the table does not have yet, each with the next one's time, and what their key had last. #}
{% macro _placed_events(batch, settings) -%}
{%- set keys, has_own_time = dbt_delta._key_names(batch['keys']) | join(', '), dbt_delta._has_own_time(batch) -%}
{%- set sequence = dbt_delta._sequence_names(batch) -%}
{%- set order = '__dbt_at, not __dbt_is_before, ' ~ sequence ~ ", __dbt_side <> 'row', __dbt_side = 'end'" -%}
{%- set in_order = 'over (partition by ' ~ keys ~ ' order by ' ~ order ~ ')' -%}
{#- A change that the table has already follows its row. -#}
{%- set same_as_before = [] -%}
{%- for time in dbt_delta._event_times(batch) -%}
    {%- do same_as_before.append('lag(' ~ time.text ~ ') ' ~ in_order ~ ' <=> ' ~ time.text) -%}
{%- endfor -%}
marked as (
    select
        *,
        __dbt_side = 'new' and coalesce(
            lag(__dbt_side) {{ in_order }} = 'row' and {{ same_as_before | join(' and ') }}, false
        ) as __dbt_is_there
        {%- if has_own_time %},
        if(__dbt_side <> 'end', max(if(__dbt_side <> 'end', __dbt_at, null)) over (
            partition by {{ keys }}, __dbt_side = 'end' order by {{ sequence }}
            rows between unbounded preceding and 1 preceding
        ), null) > __dbt_at as __dbt_goes_back
        {%- endif %}
    from events
),

placed as (
    select
        *,
        {%- if has_own_time %}
        max(__dbt_goes_back) over (partition by {{ keys }}) as __dbt_is_disordered,
        {%- endif %}
        if(__dbt_is_mark, __dbt_at, lead(__dbt_at) {{ in_order }}) as __dbt_next
        {%- if dbt_delta._keeps_deletions(settings) %},
        last_value(if(__dbt_is_delete, null, struct({{ dbt_delta._held(batch) | join(', ') }}))) ignore nulls over (
            partition by {{ keys }}, __dbt_side = 'end' order by {{ order }}
            rows between unbounded preceding and 1 preceding
        ) as __dbt_last
        {%- endif %}
    from marked
    where not __dbt_is_there
)
{%- endmacro %}

{% macro get_first_cdc_sql(batch, settings) -%}
{%- if settings.scd_type == 1 -%}
    {%- set columns = [] -%}
    {%- for column in batch.columns -%}{%- do columns.append(dbt_delta._quoted(column.name)) -%}{%- endfor -%}
select
    {{ columns | join(', ') }}
    {%- if batch.deleted_type is not none %},
    {{ dbt_delta._deletion_flag(batch, '__dbt_is_delete') }} as {{ dbt_delta._quoted(settings.deleted) }}
    {%- endif %}
from {{ batch.from }}
    {%- if settings.hard_deletes != 'new_record' %}
where not __dbt_is_delete
    {%- endif %}
{%- else -%}
    {%- set columns = [] -%}
    {%- for name, value in dbt_delta._written_columns(batch, settings).items() -%}
        {%- do columns.append(
            (dbt_delta._deletion_flag(batch, value) if value == '__dbt_deleted' else value)
            ~ ' as ' ~ dbt_delta._quoted(name)
        ) -%}
    {%- endfor -%}
select
    {{ columns | join(',\n    ') }}
from (
{{ dbt_delta.get_cdc_operations_sql(none, batch, settings) }}
) as operations
{%- endif -%}
{%- endmacro %}

{#
    The latest state (cdc_scd_type: 1): a change counts if it is newer than the row. Deleted rows go,
    or stay with their last values and dbt_is_deleted with hard_deletes: new_record.
#}
{% macro _is_newer(batch) -%}
    {%- set stored = [] -%}
    {%- for name in batch.sequence -%}{%- do stored.append('history.' ~ name) -%}{%- endfor -%}
    {{- return(
        '(struct(' ~ stored | join(', ') ~ ') < struct(' ~ dbt_delta._sequence_names(batch, 'source') ~ ') or history.'
        ~ batch.sequence[0] ~ ' is null)'
    ) -}}
{%- endmacro %}

{% macro _same_state(batch) -%}
    {%- set on = [] -%}
    {%- for key in batch['keys'] -%}
        {%- do on.append(('history.' ~ key.text if key.name else key.text) ~ ' <=> source.__dbt_key_' ~ loop.index) -%}
    {%- endfor -%}
    {{- return((on + dbt_delta._bounds(batch, 'history')) | join('\n    and ')) -}}
{%- endmacro %}

{# The changes under names that are no column's of the table. #}
{% macro _latest_state_source(batch) -%}
    {{- return(
        '(select ' ~ dbt_delta._key_names(batch['keys'], 'events') | join(', ') ~ ', '
        ~ dbt_delta._sequence_names(batch, 'events') ~ ', events.__dbt_is_delete, '
        ~ dbt_delta._event_values(batch) | join(', ')
        ~ ' from ' ~ batch.from ~ ' as events)'
    ) -}}
{%- endmacro %}

{% macro get_latest_state_changes_sql(table, batch, settings) -%}
select 1
from {{ dbt_delta._latest_state_source(batch) }} as source
left join (select *, true as __dbt_is_there from {{ table.name }}) as history
    on {{ dbt_delta._same_state(batch) }}
where
    (history.__dbt_is_there is null{{ ' and not source.__dbt_is_delete' if settings.hard_deletes != 'new_record' }})
    or (history.__dbt_is_there and {{ dbt_delta._is_newer(batch) }})
{%- endmacro %}

{% macro get_latest_state_merge_sql(table, batch, settings) -%}
{%- set keeps_deletes = settings.hard_deletes == 'new_record' -%}
{%- set names, values, updated, ended = [], [], [], [] -%}
{%- for column in batch.columns -%}
    {%- set name, value = dbt_delta._quoted(column.name), 'source.' ~ column.held -%}
    {%- do names.append(name) -%}
    {%- do values.append(value) -%}
    {%- do updated.append(name ~ ' = ' ~ value) -%}
    {%- if name in batch.sequence -%}{%- do ended.append(name ~ ' = ' ~ value) -%}{%- endif -%}
{%- endfor -%}
{%- if batch.deleted_type is not none -%}
    {%- set flag = dbt_delta._deletion_flag(batch, 'source.__dbt_is_delete') -%}
    {%- set name = dbt_delta._quoted(settings.deleted) -%}
    {%- do names.append(name) -%}
    {%- do values.append(flag) -%}
    {%- do updated.append(name ~ ' = ' ~ flag) -%}
    {%- do ended.append(name ~ ' = ' ~ flag) -%}
{%- endif -%}
merge into {{ table.name }} as history
using {{ dbt_delta._marked_state(table, batch) }} as source
on
    {{ dbt_delta._same_state(batch) }}
    and source.__dbt_matchable
when matched and {{ dbt_delta._is_newer(batch) }} and source.__dbt_is_delete then
    {{ 'update set ' ~ ended | join(', ') if keeps_deletes else 'delete' }}
when matched and {{ dbt_delta._is_newer(batch) }} then
    update set {{ updated | join(', ') }}
when not matched{{ ' and not source.__dbt_is_delete' if not keeps_deletes }} then
    insert ({{ names | join(', ') }})
    values ({{ values | join(', ') }})
{%- endmacro %}

{# See _marker.sql: of a NULL key the source must say whether the table has it. #}
{% macro _marked_state(table, batch) -%}
    {%- set keys = dbt_delta._key_names(batch['keys']) -%}
    {{- return(
        '(\n    select events.*, not ' ~ dbt_delta._any_null(batch['keys'], 'events')
        ~ ' or found.__dbt_is_there is not null as __dbt_matchable\n    from '
        ~ dbt_delta._latest_state_source(batch) ~ ' as events\n    left join (\n        select distinct '
        ~ dbt_delta._key_columns(batch['keys']) ~ ', true as __dbt_is_there from ' ~ table.name
        ~ '\n    ) as found\n        on ' ~ dbt_delta._any_null(batch['keys'], 'events') ~ ' and '
        ~ dbt_delta._same_snapshot_keys(batch['keys'], 'events', 'found') ~ '\n)'
    ) -}}
{%- endmacro %}
