{#
    What a run does to the history, judged when the MERGE runs, by the rows that it sees itself: of
    each change 'update', which ends a row, and 'insert'. Columns: __dbt_operation, the keys,
    __dbt_from and __dbt_id of the row to end, __dbt_to its new dbt_valid_to; or __dbt_at, __dbt_to,
    __dbt_id, __dbt_updated, __dbt_deleted and __dbt_c1 .. of the row to insert. Their names are no
    column's of the table, whose key may be an expression.
#}
{% macro get_snapshot_operations_sql(target, batch, settings) -%}
    {{- return(
        dbt_delta.get_cdc_operations_sql(target, batch, settings) if settings.strategy == 'cdc'
        else dbt_delta.get_change_operations_sql(target, batch, settings)
    ) -}}
{%- endmacro %}

{% macro get_change_operations_sql(target, batch, settings) -%}
{%- set keys = dbt_delta._key_names(batch['keys']) | join(', ') -%}
{%- set source_keys = dbt_delta._key_names(batch['keys'], 'source_data') | join(', ') -%}
{%- set found_from, found_to, found_id = dbt_delta._quoted(settings.from), dbt_delta._quoted(settings.to), dbt_delta._quoted(settings.id) -%}
{%- set bounds = dbt_delta._unaliased_bounds(batch) -%}
{%- set values = [] -%}
{%- for column in batch.columns -%}
    {%- set value = dbt_delta._value(column, 'source_data') if column.source
        else 'cast(null as ' ~ column.type ~ ')' -%}
    {%- set last = 'snapshotted_data.' ~ dbt_delta._quoted(column.name) -%}
    {%- do values.append(
        ('if(source_data.__dbt_is_present, ' ~ value ~ ', ' ~ last ~ ')' if settings.hard_deletes == 'new_record' else value)
        ~ ' as __dbt_c' ~ loop.index
    ) -%}
{%- endfor -%}
with changes as (
    select
        {{ source_keys }},
        source_data.__dbt_is_present,
        source_data.__dbt_updated_at,
        {%- if batch.scd_id %}
        source_data.__dbt_scd_id,
        {%- endif %}
        snapshotted_data.__dbt_is_open is not null as __dbt_is_known,
        snapshotted_data.{{ found_from }} as __dbt_from,
        snapshotted_data.{{ found_id }} as __dbt_id,
        {{ 'coalesce(snapshotted_data.' ~ found_id ~ ', ended.__dbt_count)' if batch.has_new_keys
            else 'snapshotted_data.' ~ found_id }} as __dbt_before,
        {{ dbt_delta._last_time(batch, settings) }} as __dbt_last,
        {{ dbt_delta._change_time(batch, settings) }} as __dbt_at,
        {{ values | join(',\n        ') }}
    from {{ batch.from }} as source_data
    left join {{ dbt_delta._open_rows(target, batch, settings, bounds) }} as snapshotted_data
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'source_data', 'snapshotted_data') }}
    {%- if batch.has_new_keys %}
    left join {{ dbt_delta._ended_rows(target, batch, settings, bounds) }} as ended
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'source_data', 'ended') }}
    {%- endif %}
    where
        case
            when source_data.__dbt_is_known and snapshotted_data.__dbt_is_open is null then raise_error({{ dbt_delta._literal(
                dbt_delta._named(this) ~ ' was changed by another run at the same time; nothing was written. Run the snapshot again.'
            ) }})
            when source_data.__dbt_is_late then false
            when not source_data.__dbt_is_present then snapshotted_data.__dbt_is_open is not null
                and not ({{ dbt_delta._is_deletion(batch, settings, 'snapshotted_data') }})
            else {{ dbt_delta._is_change(batch, settings) }}
        end
),

operations as (
    select
        *,
        if(__dbt_operation = 'update', __dbt_at, {{ dbt_delta._current(batch, settings) }}) as __dbt_to
    from changes
    lateral view explode(array('update', 'insert')) as __dbt_operation
    where
        (__dbt_operation = 'update' and __dbt_is_known)
        or (__dbt_operation = 'insert' and {{ 'true' if settings.hard_deletes == 'new_record' else '__dbt_is_present' }})
)
{%- if settings.late == 'insert' %},

{{ dbt_delta._late_operations(target, batch, settings, bounds) }}
{%- endif %}
{%- set columns = [] -%}
{%- for column in batch.columns -%}{%- do columns.append('__dbt_c' ~ loop.index) -%}{%- endfor %}

select
    __dbt_operation,
    {{ keys }},
    __dbt_from,
    __dbt_at,
    __dbt_to,
    case
        when __dbt_operation = 'update' then __dbt_id
        {%- if settings.hard_deletes == 'new_record' %}
        when not __dbt_is_present then {{ snapshot_hash_arguments(['__dbt_id', '__dbt_at']) }}
        {%- endif %}
        else {{ '__dbt_scd_id' if batch.scd_id else dbt_delta._scd_id(batch, ['__dbt_at'], is_doubled='__dbt_at <= __dbt_last') }}
    end as __dbt_id,
    cast(if(__dbt_is_present, coalesce(__dbt_updated_at, __dbt_at), __dbt_at) as {{ batch.updated_type }}) as __dbt_updated,
    not __dbt_is_present as __dbt_deleted,
    {{ columns | join(', ') }}
from operations
{%- if settings.late == 'insert' %}
union all
select * from late_operations
{%- endif %}
{%- endmacro %}

{#
    dbt's hash of keys and times, and more where that would not be unique: dbt takes a NULL key for
    an empty text, and a | in one key for the end of it. In a table of dates a key may have two rows of
    one day.
#}
{% macro _scd_id(batch, times, is_doubled=none) -%}
    {%- set names = dbt_delta._key_names(batch['keys']) -%}
    {%- set ambiguous = [] -%}
    {%- for name in names -%}
        {%- do ambiguous.append(name ~ ' is null') -%}
        {%- if names | length + times | length > 2 -%}
            {%- do ambiguous.append("contains(cast(" ~ name ~ " as string), '|')") -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set last = 'concat(cast(' ~ times[-1] ~ ' as string), case when ' ~ ambiguous | join(' or ')
        ~ " then concat('|', to_json(struct(" ~ names | join(', ') ~ "), map('ignoreNullFields', 'false'))) else '' end"
        ~ (", case when " ~ is_doubled ~ " then concat('|', __dbt_before) else '' end" if is_doubled else '') ~ ')' -%}
    {{- return(snapshot_hash_arguments(names + times[:-1] + [last])) -}}
{%- endmacro %}

{# When a change begins: at the source's own time, unless the history knows better. #}
{% macro _change_time(batch, settings) -%}
{%- set last = dbt_delta._last_time(batch, settings) -%}
{%- set known = 'snapshotted_data.__dbt_is_open is not null' -%}
{%- set own = 'cast(source_data.__dbt_updated_at as ' ~ batch.time ~ ')' -%}
case
            when source_data.__dbt_is_present and ({{ last }} is null or {{ own }} > {{ last }}
                or ({{ own }} = {{ last }} and not ({{ known }})))
                then coalesce({{ own }}, {{ dbt_delta._run_time(batch) }})
            when {{ last }} is null or {{ dbt_delta._run_time(batch) }} > {{ last }} then {{ dbt_delta._run_time(batch) }}
            else {{ last if batch.time == 'date' else 'timestampadd(microsecond, 1, ' ~ last ~ ')' }}
        end
{%- endmacro %}

{# When the key's open row began, or when its last row ended. #}
{% macro _last_time(batch, settings) -%}
    {%- set found = 'snapshotted_data.' ~ dbt_delta._quoted(settings.from) -%}
    {{- return('coalesce(' ~ found ~ ', ended.__dbt_ended)' if batch.has_new_keys else found) -}}
{%- endmacro %}

{# The time of the run, as dbt_valid_from holds times. #}
{% macro _run_time(batch) -%}
    {%- if batch.time in ('timestamp', 'timestamp_ntz', 'date') -%}
        {{- return('cast(source_data.__dbt_now as ' ~ batch.time ~ ')') -}}
    {%- endif -%}
    {{- return('cast(raise_error(' ~ dbt_delta._literal(
        dbt_delta._named(this) ~ ' must hold the time of this run, and dbt_valid_from is of type ' ~ batch.time
        ~ '. Nothing was written. Use an updated_at of type timestamp or date.'
    ) ~ ') as ' ~ batch.time ~ ')') -}}
{%- endmacro %}

{# When the keys that have no open row were last there. #}
{% macro _ended_rows(target, batch, settings, bounds) -%}
{%- set keys = dbt_delta._key_names(batch['keys'], 'known') | join(', ') -%}
(
    select {{ keys }}, max(known.__dbt_to) as __dbt_ended, cast(count(*) as string) as __dbt_count
    from (
        select {{ dbt_delta._key_columns(batch['keys']) }}, {{ dbt_delta._quoted(settings.to) }} as __dbt_to
        from {{ target.name }}
        where {{ (['not ' ~ dbt_delta._is_open(batch, settings)] + bounds) | join(' and ') }}
    ) as known
    left semi join (select * from {{ batch.from }} where not __dbt_is_known) as fresh
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'known', 'fresh') }}
    group by {{ keys }}
)
{%- endmacro %}

{% macro _unaliased_bounds(batch) -%}
    {%- set conditions = [] -%}
    {%- for bound in batch.bounds -%}
        {%- do conditions.append(dbt_delta._bound(bound, dbt_delta._quoted(bound.name))) -%}
    {%- endfor -%}
    {{- return(conditions) -}}
{%- endmacro %}

{#
    Changes that are older than the row that is open: each ends the row in which it falls, and holds
    until that row's end, or until the next row where none was valid.
#}
{% macro _late_operations(target, batch, settings, bounds) -%}
{%- set keys = dbt_delta._key_names(batch['keys'], 'late') | join(', ') -%}
{%- set is_open = dbt_delta._is_open(batch, settings) -%}
{%- set columns = [] -%}
{%- for column in batch.columns -%}
    {%- do columns.append(
        (dbt_delta._value(column, 'late') if column.source else 'cast(null as ' ~ column.type ~ ')')
        ~ ' as __dbt_c' ~ loop.index
    ) -%}
{%- endfor -%}
places as (
    select
        {{ keys }},
        count_if(known.__dbt_from = late.__dbt_updated_at) > 0 as __dbt_is_there,
        max(struct(known.__dbt_from, known.__dbt_to, known.__dbt_id))
            filter (where known.__dbt_from < late.__dbt_updated_at and known.__dbt_to > late.__dbt_updated_at) as within,
        min(known.__dbt_from) filter (where known.__dbt_from > late.__dbt_updated_at) as next_from
    from {{ batch.from }} as late
    inner join (
        select
            {{ dbt_delta._key_columns(batch['keys']) }},
            {{ dbt_delta._quoted(settings.from) }} as __dbt_from,
            {{ dbt_delta._quoted(settings.to) }} as __dbt_to,
            {{ dbt_delta._quoted(settings.id) }} as __dbt_id
        from {{ target.name }}
        {%- if bounds %}
        where {{ bounds | join(' and ') }}
        {%- endif %}
    ) as known
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'known', 'late') }}
    where late.__dbt_is_late
    group by {{ keys }}
),

late_operations as (
    select
        __dbt_operation,
        {{ keys }},
        places.within.__dbt_from as __dbt_from,
        cast(late.__dbt_updated_at as {{ batch.time }}) as __dbt_at,
        if(__dbt_operation = 'update', late.__dbt_updated_at, coalesce(places.within.__dbt_to, places.next_from)) as __dbt_to,
        if(__dbt_operation = 'update', places.within.__dbt_id, {{ dbt_delta._scd_id(batch, ['late.__dbt_updated_at']) | replace('__dbt_key', 'late.__dbt_key') }}) as __dbt_id,
        cast(late.__dbt_updated_at as {{ batch.updated_type }}) as __dbt_updated,
        false as __dbt_deleted,
        {{ columns | join(', ') }}
    from {{ batch.from }} as late
    inner join places
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'places', 'late') }}
    lateral view explode(array('update', 'insert')) as __dbt_operation
    where late.__dbt_is_late and not places.__dbt_is_there
        and (__dbt_operation = 'insert' or places.within is not null)
)
{%- endmacro %}

{% macro get_snapshot_merge_sql(target, batch, settings, operations) -%}
{%- set on = ["source.__dbt_operation = 'update'"] -%}
{%- for key in batch['keys'] -%}
    {#- An expression finds its columns in the table only: those of the source have other names. -#}
    {%- set side = 'history.' ~ key.text if key.name else key.text -%}
    {%- do on.append(side ~ ' <=> source.__dbt_key_' ~ loop.index) -%}
{%- endfor -%}
{%- for name, value in ((settings.from, '__dbt_from'), (settings.id, '__dbt_id')) -%}
    {%- do on.append('history.' ~ dbt_delta._quoted(name) ~ ' <=> source.' ~ value) -%}
{%- endfor -%}
{%- if settings.late != 'insert' and settings.strategy != 'cdc' -%}
    {%- do on.append(dbt_delta._is_open(batch, settings, 'history')) -%}
{%- endif -%}
{%- set written = dbt_delta._written_columns(batch, settings) -%}
{%- set values = [] -%}
{%- for value in written.values() -%}
    {%- do values.append(
        dbt_delta._deletion_flag(batch, 'source.' ~ value) if value == '__dbt_deleted' else 'source.' ~ value
    ) -%}
{%- endfor -%}
merge into {{ target.name }} as history
using {{ operations }} as source
on
    {{ (on + dbt_delta._bounds(batch, 'history')) | join('\n    and ') }}
when matched then
    update set {{ dbt_delta._quoted(settings.to) }} = source.__dbt_to
when not matched and source.__dbt_operation = 'insert' then
    insert ({{ dbt_delta._quoted_list(written.keys()) }})
    values ({{ values | join(', ') }})
{%- endmacro %}

{# A condition as dbt_is_deleted holds it: text here, true and false in tables of dbt-databricks. #}
{% macro _deletion_flag(batch, condition) -%}
    {{- return(
        condition if batch.deleted_type == 'boolean' else 'initcap(cast(' ~ condition ~ ' as string))'
    ) -}}
{%- endmacro %}

{# The table's columns, and what the operations call what comes into them. #}
{% macro _written_columns(batch, settings) -%}
    {%- set written = {} -%}
    {%- for column in batch.columns -%}{%- do written.update({column.name: '__dbt_c' ~ loop.index}) -%}{%- endfor -%}
    {%- do written.update({
        settings.id: '__dbt_id', settings.updated: '__dbt_updated', settings.from: '__dbt_at', settings.to: '__dbt_to',
    }) -%}
    {%- if batch.deleted_type is not none -%}
        {%- do written.update({settings.deleted: '__dbt_deleted'}) -%}
    {%- endif -%}
    {{- return(written) -}}
{%- endmacro %}

{# The history as it begins. #}
{% macro get_first_snapshot_sql(target, batch, settings) -%}
{%- if settings.strategy == 'cdc' -%}
    {{- return(dbt_delta.get_first_cdc_sql(batch, settings)) -}}
{%- endif -%}
{%- set columns = [] -%}
{%- for column in batch.columns -%}{%- do columns.append('source_data.' ~ dbt_delta._quoted(column.name)) -%}{%- endfor -%}
{%- set time = 'source_data.__dbt_updated_at' if settings.strategy == 'timestamp'
    else 'coalesce(source_data.__dbt_updated_at, source_data.__dbt_now)' -%}
{%- set at = 'cast(' ~ time ~ ' as ' ~ batch.time ~ ')' -%}
select
    {{ columns | join(',\n    ') }},
    {{ 'source_data.__dbt_scd_id' if batch.scd_id else dbt_delta._scd_id(batch, [at]) }} as {{ dbt_delta._quoted(settings.id) }},
    cast({{ time }} as {{ batch.updated_type }}) as {{ dbt_delta._quoted(settings.updated) }},
    {{ at }} as {{ dbt_delta._quoted(settings.from) }},
    {{ dbt_delta._current(batch, settings) }} as {{ dbt_delta._quoted(settings.to) }}
    {%- if batch.deleted_type is not none %},
    'False' as {{ dbt_delta._quoted(settings.deleted) }}
    {%- endif %}
from {{ batch.from }} as source_data
{%- endmacro %}
