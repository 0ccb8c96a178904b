{#
    Evaluates the source once, next to the rows that are open, and keeps what may change the
    history, with what is wrong with it; then looks at that. Refuses before anything is written.
#}
{% macro _stage_snapshot(target, batch, settings) -%}
    {%- do dbt_delta._drop_leftovers(this) -%}
    {%- set select = dbt_delta.get_cdc_stage_sql(target, batch, settings) if settings.strategy == 'cdc'
        else dbt_delta.get_snapshot_stage_sql(target, batch, settings) -%}
    {%- do run_query(dbt_delta.get_create_staging_sql(batch.from, select)) -%}
    {%- set bounded, types = [], [] -%}
    {%- for key in batch['keys'] if target is not none and key.name is not none -%}
        {%- set column = dbt_delta._column(target.columns, key.name) -%}
        {%- if column is not none and dbt_delta._is_bounded(column) -%}
            {%- do bounded.append(dbt_delta._bounded_key(target, column, '__dbt_key_' ~ loop.index)) -%}
            {#- Keys that are gone come from the table, and may be too great for the source's type. -#}
            {%- do types.append({
                'name': column.name,
                'type': column.type if dbt_delta._widens(key.type, column.type) else key.type,
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set found = run_query(dbt_delta.get_snapshot_check_sql(target, batch, settings, bounded)).rows[0] -%}
    {%- do dbt_delta._check_snapshot(target, batch, settings, found) -%}
    {%- do batch.update({
        'rows': found['row_count'] | int,
        'has_new_keys': found['new_keys'] | int > 0,
        'bounds': dbt_delta._found_bounds(bounded, found, types),
    }) -%}
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
{% macro _open_rows(target, batch, settings, bounds=[]) -%}
(
    select *, {{ dbt_delta._key_columns(batch['keys']) }}, true as __dbt_is_open
    from {{ target.name }}
    where {{ ([dbt_delta._is_open(batch, settings)] + bounds) | join(' and ') }}
)
{%- endmacro %}

{# The open row says that the key was gone. #}
{% macro _is_deletion(batch, settings, alias) -%}
    {%- if not batch.has_deletions -%}{{- return('false') -}}{%- endif -%}
    {{- return("lower(cast(" ~ alias ~ '.' ~ dbt_delta._quoted(settings.deleted) ~ " as string)) <=> 'true'") -}}
{%- endmacro %}

{# Whether the source row differs from the key's open row, of a join of source_data and snapshotted_data. #}
{% macro _is_change(batch, settings) -%}
    {%- set conditions = ['snapshotted_data.__dbt_is_open is null', '(' ~ batch.row_changed ~ ')'] -%}
    {%- if batch.has_deletions -%}
        {%- do conditions.append(dbt_delta._is_deletion(batch, settings, 'snapshotted_data')) -%}
    {%- endif -%}
    {{- return('(' ~ conditions | join(' or ') ~ ')') -}}
{%- endmacro %}


{# The source, each row with its keys, its time and how many rows have its key. #}
{% macro _source_data(batch, settings) -%}
{%- set keys = dbt_delta._key_names(batch['keys']) | join(', ') -%}
(
    select *, count(*) over (partition by {{ keys }}) as __dbt_rows
    from (
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
    ) as __dbt_keyed
)
{%- endmacro %}

{% macro get_snapshot_stage_sql(target, batch, settings) -%}
{%- set columns = [] -%}
{%- for column in batch.source_columns -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {%- do columns.append(
        'cast(null as string) as ' ~ name if column.type == 'void' else 'source_data.' ~ name
    ) -%}
{%- endfor -%}
{%- if batch.scd_id -%}{%- do columns.append('source_data.__dbt_scd_id') -%}{%- endif -%}
{%- if target is none -%}
select
    {{ columns | join(',\n    ') }},
    {{ dbt_delta._key_names(batch['keys'], 'source_data') | join(', ') }},
    source_data.__dbt_updated_at, source_data.__dbt_now, source_data.__dbt_rows,
    true as __dbt_is_present, false as __dbt_is_known, false as __dbt_is_late
from {{ dbt_delta._source_data(batch, settings) }} as source_data
{%- else -%}
{%- set is_outer = settings.hard_deletes != 'ignore' -%}
{%- set key_values = [] -%}
{%- for name in dbt_delta._key_names(batch['keys']) -%}
    {%- do key_values.append(
        ('if(source_data.__dbt_is_present, source_data.' ~ name ~ ', snapshotted_data.' ~ name ~ ')' if is_outer
            else 'source_data.' ~ name) ~ ' as ' ~ name
    ) -%}
{%- endfor -%}
{%- set found = dbt_delta._quoted(settings.from) -%}
{%- set is_late = 'false' -%}
{%- if settings.late == 'insert' -%}
    {%- set is_late = 'snapshotted_data.__dbt_is_open and not ' ~ dbt_delta._is_change(batch, settings)
        ~ ' and source_data.__dbt_updated_at < snapshotted_data.' ~ found -%}
{%- endif -%}
select *
from (
    select
        {{ columns | join(',\n        ') }},
        {{ key_values | join(', ') }},
        source_data.__dbt_updated_at,
        {{ 'coalesce(source_data.__dbt_now, ' ~ snapshot_get_time() ~ ')' if is_outer else 'source_data.__dbt_now' }} as __dbt_now,
        source_data.__dbt_rows,
        source_data.__dbt_is_present is not null as __dbt_is_present,
        snapshotted_data.__dbt_is_open is not null as __dbt_is_known,
        coalesce({{ is_late }}, false) as __dbt_is_late,
        case
            when source_data.__dbt_is_present is null then
                not {{ '(' ~ dbt_delta._is_deletion(batch, settings, 'snapshotted_data') ~ ')' }}
            else source_data.__dbt_rows > 1 or {{ dbt_delta._is_change(batch, settings) }}
            {%- if settings.strategy == 'timestamp' %} or source_data.__dbt_updated_at is null{% endif %}
            {%- if settings.null_keys == 'error' %} or {{ dbt_delta._any_null(batch['keys'], 'source_data') }}{% endif %}
        end as __dbt_is_change
    from {{ dbt_delta._source_data(batch, settings) }} as source_data
    {{ 'full' if is_outer else 'left' }} join {{ dbt_delta._open_rows(target, batch, settings) }} as snapshotted_data
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'source_data', 'snapshotted_data') }}
) as staged
where
    __dbt_is_change
    {%- if settings.late == 'insert' %}
    or (__dbt_is_late and not exists (
        select 1
        from (select {{ found }} as __dbt_valid_from, {{ dbt_delta._key_columns(batch['keys']) }} from {{ target.name }}) as known
        where {{ dbt_delta._same_snapshot_keys(batch['keys'], 'known', 'staged') }}
            and known.__dbt_valid_from = staged.__dbt_updated_at
    ))
    {%- endif %}
{%- endif -%}
{%- endmacro %}

{% macro _any_null(keys, alias=none) -%}
    {%- set conditions = [] -%}
    {%- for name in dbt_delta._key_names(keys, alias) -%}{%- do conditions.append(name ~ ' is null') -%}{%- endfor -%}
    {{- return('(' ~ conditions | join(' or ') ~ ')') -}}
{%- endmacro %}

{# One row about what was staged; of the cdc strategy several rows may have one key. #}
{% macro get_snapshot_check_sql(target, batch, settings, bounded) -%}
{%- set is_cdc = settings.strategy == 'cdc' -%}
select
    coalesce(sum(__dbt_staged), 0) as row_count,
    count_if(__dbt_duplicates) as duplicate_keys,
    count_if(not __dbt_duplicates and __dbt_staged > 1 and {{ not is_cdc }}) as open_twice,
    count_if({{ dbt_delta._any_null(batch['keys']) }} and __dbt_are_present) as null_keys,
    count_if(__dbt_without_time) as without_time,
    count_if(not __dbt_are_known) as new_keys
    {{- dbt_delta._bound_values(bounded) }}
from (
    select
        {{ dbt_delta._key_names(batch['keys']) | join(', ') }},
        count(*) as __dbt_staged,
        max({{ '__dbt_conflicts' if is_cdc else '__dbt_rows > 1' }}) is true as __dbt_duplicates,
        max({{ dbt_delta._without_time(settings) }}) as __dbt_without_time,
        max(__dbt_is_present) as __dbt_are_present,
        max(__dbt_is_known) as __dbt_are_known
    from {{ batch.from }}
    group by {{ dbt_delta._key_names(batch['keys']) | join(', ') }}
) as __dbt_keys
{%- endmacro %}

{% macro _without_time(settings) -%}
    {{- return(
        '__dbt_is_present and __dbt_updated_at is null' if settings.strategy == 'timestamp'
        else '__dbt_without_time' if settings.strategy == 'cdc' else 'false'
    ) -}}
{%- endmacro %}

{% macro _check_snapshot(target, batch, settings, found) -%}
    {%- set source = 'The source of snapshot ' ~ dbt_delta._named(this) ~ ' has ' -%}
    {%- if settings.null_keys == 'error' and found['null_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, source ~ 'null keys', found['null_keys'], '__dbt_is_present and ' ~ dbt_delta._any_null(batch['keys']),
            'Filter them out, or set null_keys: match, by which NULL is a key like any other.'
        ) -%}
    {%- elif settings.strategy == 'cdc' and found['duplicate_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, source ~ 'keys with different changes of one sequence', found['duplicate_keys'], '__dbt_conflicts',
            'Add a column to cdc_sequence_by that tells them apart: ' ~ settings.sequence | join(', ') ~ ' do not.'
        ) -%}
    {%- elif found['duplicate_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, source ~ 'duplicate keys', found['duplicate_keys'], '__dbt_rows > 1',
            'Make it give one row per key.'
        ) -%}
    {%- elif found['open_twice'] | int > 0 -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, 'The history ' ~ dbt_delta._named(this) ~ ' has more than one open row of keys', found['open_twice'],
            'true', 'Close all of them but the newest; the test scd2_valid finds the others too.',
            having='having count(*) > 1'
        ) -%}
    {%- elif found['without_time'] | int > 0 -%}
        {%- do dbt_delta._refuse_snapshot(
            batch, source ~ 'keys without '
            ~ (settings.updated_at if settings.strategy == 'timestamp'
                else (settings.sequence + ([settings.valid_from] if settings.valid_from else [])) | join(' or ')),
            found['without_time'], dbt_delta._without_time(settings),
            'Filter those rows out, or give them a time.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# Stops the snapshot, naming the first five keys, and leaves nothing of its batch behind. #}
{% macro _refuse_snapshot(batch, problem, total, where, way_out, having='') -%}
    {%- set labels = [] -%}
    {%- for key in batch['keys'] -%}
        {%- do labels.append('__dbt_key_' ~ loop.index ~ ' as ' ~ dbt_delta._quoted(key.label)) -%}
    {%- endfor -%}
    {%- set names = dbt_delta._key_names(batch['keys']) | join(', ') -%}
    {%- set rows = run_query(
        'select to_json(struct(' ~ labels | join(', ') ~ "), map('ignoreNullFields', 'false')) as key from "
        ~ batch.from ~ ' where ' ~ where ~ ' group by ' ~ names ~ ' ' ~ having ~ ' order by ' ~ names ~ ' limit 5'
    ).rows -%}
    {%- do dbt_delta._drop(batch.staging) -%}
    {%- do dbt_delta._refuse(
        problem ~ ': ' ~ total | int ~ ', the first ' ~ rows | map(attribute='key') | join(', ')
        ~ '. Nothing was written. ' ~ way_out
    ) -%}
{%- endmacro %}
