{#
    What a run does to a history, with any strategy. The staged rows become events of one form:
    __dbt_key_N, __dbt_sequence_N             the key, and the position in the order of a feed
    __dbt_at                                  when it begins, in the type of dbt_valid_from
    __dbt_is_delete, __dbt_is_mark            the key is gone from then on; see _deletion_mark
    __dbt_is_known, __dbt_found_id            whether it was compared with an open row of the key, and that row's id
    __dbt_is_late                             the key may have later rows: the event is placed among them
    __dbt_id, __dbt_updated, __dbt_values     of its row; values is a struct of the table's columns, because a key
                                                that is an expression must find its columns only in the table
    The operation 'update' sets __dbt_to of the row with __dbt_found_id; 'insert' adds a row.
#}
{% macro get_snapshot_operations_sql(table, batch, settings) -%}
{%- set columns = dbt_delta._key_names(batch['keys']) + [
    '__dbt_found_id', '__dbt_at', '__dbt_id', '__dbt_updated', '__dbt_is_delete',
] -%}
{%- set is_feed = settings.strategy == 'cdc' -%}
{%- set has_late = is_feed or (settings.late == 'insert' and table is not none) -%}
with events as (
{{ dbt_delta._feed_events(batch, settings) if is_feed else dbt_delta._history_events(table, batch, settings) }}
)
{{- dbt_delta._placed_events(table, batch, settings) if has_late }}

select
    {{ columns | join(', ') }},
    __dbt_operation, coalesce(__dbt_next, {{ dbt_delta._current(batch, settings) }}) as __dbt_to, __dbt_values
from (
    {{- dbt_delta._next_operations(columns, settings) if not is_feed }}
    {{- '\n    union all' if has_late and not is_feed }}
    {{- dbt_delta._placed_operations(columns, batch, settings) if has_late }}
) as operations
{%- endmacro %}

{# Whether an event becomes a row. #}
{% macro _is_written(settings) -%}
    {{- return('true' if settings.keeps_deletions else 'not __dbt_is_delete') -}}
{%- endmacro %}

{# The operations of events that follow the open row of their key, which ends when they begin. #}
{% macro _next_operations(columns, settings) %}
    select
        {{ columns | join(', ') }}, __dbt_values, __dbt_operation,
        if(__dbt_operation = 'update', __dbt_at, null) as __dbt_next
    from events
    lateral view explode(array('update', 'insert')) as __dbt_operation
    where not __dbt_is_late and if(__dbt_operation = 'update', __dbt_is_known, {{ dbt_delta._is_written(settings) }})
{%- endmacro %}

{#
    Late events among the rows of their keys, each with the time of the next one and with the last values of the key:
    each is valid until the next begins. If the table has an end without a next row, the key was gone from then on. An
    end comes before the rows of the same time. The end of a row that ended when it began follows its row. A change
    that the table already has follows its row and is left out; another change with the same place is refused.
#}
{% macro _placed_events(table, batch, settings) -%}
{%- set keys = dbt_delta._key_names(batch['keys']) | join(', ') -%}
{%- set order = dbt_delta._order_of_places(batch) -%}
{%- set in_order = 'over (partition by ' ~ keys ~ ' order by ' ~ order ~ ')' -%}
,

places as (
    select
        *,
        {{- dbt_delta._event_beside(table, batch, keys, in_order) }}
    from (
        select *, cast(null as {{ batch.time }}) as __dbt_until, 'new' as __dbt_side, false as __dbt_is_before
        from events
        where __dbt_is_late
        {%- if table is not none %}
        union all
        {{- dbt_delta._known_events(table, batch, settings) }}
        {%- endif %}
    ) as events
),

placed as (
    select
        *,
        {%- if batch.has_own_time %}
        max(__dbt_goes_back) over (partition by {{ keys }}) as __dbt_is_disordered,
        {%- endif %}
        {%- if settings.fills_deletions %}
        last_value(if(__dbt_is_delete, null, __dbt_values)) ignore nulls over (
            partition by {{ keys }}, __dbt_side = 'end' order by {{ order }}
            rows between unbounded preceding and 1 preceding
        ) as __dbt_last,
        {%- endif %}
        lead(__dbt_side) {{ in_order }} as __dbt_next_side,
        if(__dbt_is_mark, __dbt_at, lead(__dbt_at) {{ in_order }}) as __dbt_next
    from places
    where not __dbt_is_there
        {%- if batch.sequence and table is not none %} or if(
            not __dbt_there.__dbt_at <=> __dbt_at or {{ dbt_delta._is_other_change(
                table, batch, '__dbt_there.__dbt_values', '__dbt_there.__dbt_is_delete'
            ) }},
            {{ dbt_delta._refuse_other_change(batch, settings) }}, false
        )
        {%- endif %}
)
{%- endmacro %}

{% macro _order_of_places(batch) -%}
    {{- return((
        ['__dbt_at', 'not __dbt_is_before'] + dbt_delta._sequence_names(batch)
        + ["__dbt_side <> 'row'", "__dbt_side = 'end'"]
    ) | join(', ')) -}}
{%- endmacro %}

{#
    Of an event what is before it: whether the table has it already, and what the table has in its place then. In a feed
    whose changes have times of their own, the sequence alone says which change one is.
#}
{% macro _event_beside(table, batch, keys, in_order) -%}
{%- set sequence = dbt_delta._sequence_names(batch) -%}
{%- set in_sequence = 'over (partition by ' ~ keys ~ ", __dbt_side = 'end' order by " ~ sequence | join(', ') -%}
{%- set beside = in_sequence ~ ", __dbt_side <> 'row')" if batch.has_own_time else in_order -%}
{%- set same_place = [] -%}
{%- for name in sequence + ([] if batch.has_own_time else ['__dbt_at']) -%}
    {%- do same_place.append('lag(' ~ name ~ ') ' ~ beside ~ ' <=> ' ~ name) -%}
{%- endfor -%}
        {%- if batch.has_own_time %}
        if(__dbt_side <> 'end', max(if(__dbt_side <> 'end', __dbt_at, null)) {{ in_sequence }}
            rows between unbounded preceding and 1 preceding
        ), null) > __dbt_at as __dbt_goes_back,
        {%- endif %}
        {%- if sequence and table is not none %}
        lag(struct(__dbt_at, __dbt_is_delete, __dbt_values)) {{ beside }} as __dbt_there,
        {%- endif %}
        __dbt_side = 'new' and coalesce(
            lag(__dbt_side) {{ beside }} = 'row' and {{ same_place | join(' and ') }}, false
        ) as __dbt_is_there
{%- endmacro %}

{#
    The table's rows with the keys of late events, and their ends. In a table of dates without a sequence the order of
    rows of one day is not known; all except the last end when they begin, and nothing is placed after them.
#}
{% macro _known_events(table, batch, settings) %}
        select
            {{ (dbt_delta._key_names(batch['keys']) + dbt_delta._sequence_names(batch)) | join(', ') }},
            if(__dbt_side = 'end', __dbt_until, __dbt_at) as __dbt_at,
            __dbt_is_delete, __dbt_is_mark, true as __dbt_is_known, __dbt_found_id, true as __dbt_is_late,
            cast(null as string) as __dbt_id, cast(null as {{ batch.updated_type }}) as __dbt_updated, __dbt_values,
            __dbt_until, __dbt_side, __dbt_side = 'end' and __dbt_until > __dbt_at as __dbt_is_before
        from {{ dbt_delta._known_rows(table, batch, settings, '(select * from events where __dbt_is_late)') }} as known
        lateral view explode(array('row', 'end')) as __dbt_side
        where
            (__dbt_side = 'row' or (__dbt_until is not null and not __dbt_is_mark))
            {{- ' and not (__dbt_until <=> __dbt_at)' if not batch.sequence }}
{%- endmacro %}

{# The table's rows with the keys of events. #}
{% macro _known_rows(table, batch, settings, events, conditions=[]) -%}
{%- set id = dbt_delta._quoted(settings.id) -%}
{%- set is_mark = 'startswith(' ~ id ~ ', ' ~ dbt_delta._literal(dbt_delta._deletion_mark()) ~ ')' -%}
{%- set conditions, values = conditions + dbt_delta._bounds(batch, 'history'), [] -%}
{%- for column in batch.columns if batch.sequence -%}
    {%- do values.append(
        (dbt_delta._quoted(column.name) if dbt_delta._column(table.columns, column.name)
            else 'cast(null as ' ~ column.type ~ ')') ~ ' as ' ~ dbt_delta._quoted(column.name)
    ) -%}
{%- endfor -%}
(
    select known.*
    from (
        select
            {{ (dbt_delta._key_columns(batch['keys']) + dbt_delta._sequence_columns(batch)) | join(', ') }},
            {{ dbt_delta._quoted(settings.from) }} as __dbt_at,
            if({{ dbt_delta._is_open(batch, settings) }}, null, {{ dbt_delta._quoted(settings.to) }}) as __dbt_until,
            {{ id }} as __dbt_found_id,
            {{ is_mark }} as __dbt_is_mark,
            {{ is_mark }} or {{ dbt_delta._is_deletion(batch, settings) }} as __dbt_is_delete,
            {{ 'struct(' ~ values | join(', ') ~ ')' if values else 'null' }} as __dbt_values
        from {{ table.name }} as history
        {{- ' where ' ~ conditions | join(' and ') if conditions }}
    ) as known
    left semi join {{ events }} as events
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'known', 'events') }}
)
{%- endmacro %}

{#
    The operations of late events, and of the rows before them, which get new ends. The row of a deletion has its own
    place in the order; its other values are the last ones of the key, which an older change may bring later.
#}
{% macro _placed_operations(columns, batch, settings) -%}
{%- set values, same = [], [] -%}
{%- for column in batch.columns if settings.fills_deletions -%}
    {%- set name, is_place = dbt_delta._quoted(column.name), dbt_delta._quoted(column.name) in batch.sequence -%}
    {%- do values.append(('__dbt_values.' if is_place else '__dbt_last.') ~ name ~ ' as ' ~ name) -%}
    {%- if not is_place -%}
        {%- do same.append(
            dbt_delta._comparable('__dbt_values.' ~ name, column.type) ~ ' <=> '
            ~ dbt_delta._comparable('__dbt_last.' ~ name, column.type)
        ) -%}
    {%- endif -%}
{%- endfor -%}
{%- set follows = '__dbt_is_delete and __dbt_last is not null' %}
    select
        {{ columns | join(', ') }},
        {{ 'if(' ~ follows ~ ', struct(' ~ values | join(', ') ~ '), __dbt_values) as ' if values }}__dbt_values,
        {%- if batch.has_own_time %}
        if(__dbt_is_disordered, raise_error({{ dbt_delta._literal(
            'cdc_valid_from ' ~ settings.valid_from ~ ' decreases while cdc_sequence_by increases, for a key of '
            ~ dbt_delta._named(this) ~ ': '
        ) }} || {{ dbt_delta._shown_keys(batch) }} || '. Nothing was written. Correct the feed or remove cdc_valid_from.'),
        {%- endif %}
        if(__dbt_side = 'row', 'update', 'insert')
        {{- ')' if batch.has_own_time }} as __dbt_operation,
        __dbt_next
    from placed
    where
        (__dbt_side = 'new' and {{ dbt_delta._is_written(settings) }})
        or (__dbt_side = 'row' and (
            (__dbt_next_side = 'new' and not (__dbt_next <=> __dbt_until))
            {{- ' or (' ~ follows ~ ' and not (' ~ same | join(' and ') ~ '))' if same }}
        ))
{%- endmacro %}
