{#
    What a run does to the history: of each change 'update', which ends a row, and 'insert'. Columns:
    __dbt_operation, the keys, __dbt_found_id of the row to end, __dbt_to its new dbt_valid_to; or
    __dbt_at, __dbt_to, __dbt_id, __dbt_updated, __dbt_deleted and what columns are `held` as,
    of the row to insert. Their names are no column's of the table, whose key may be an expression.
#}
{% macro get_snapshot_operations_sql(table, batch, settings) -%}
    {{- return(
        dbt_delta.get_cdc_operations_sql(table, batch, settings) if settings.strategy == 'cdc'
        else dbt_delta.get_change_operations_sql(table, batch, settings)
    ) -}}
{%- endmacro %}

{% macro get_change_operations_sql(table, batch, settings) -%}
{%- set keeps_deletes = settings.hard_deletes == 'new_record' -%}
{%- set keys = dbt_delta._key_names(batch['keys']) | join(', ') -%}
{%- set id = '__dbt_scd_id' if batch.scd_id
    else dbt_delta._scd_id(batch, [{'text': '__dbt_at', 'type': batch.time}], is_doubled='__dbt_at <= __dbt_last') -%}
{%- set deletion = snapshot_hash_arguments(['__dbt_found_id', dbt_delta._id_text('__dbt_at', batch.time)])
    if keeps_deletes else none -%}
with changes as (
    select
        source_data.*,
        {{ 'coalesce(source_data.__dbt_found_id, ended.__dbt_count)' if batch.has_ended_keys
            else 'source_data.__dbt_found_id' }} as __dbt_before,
        {{ dbt_delta._last_time(batch) }} as __dbt_last,
        {{ dbt_delta._change_time(batch) }} as __dbt_at
    from {{ batch.from }} as source_data
    {%- if batch.has_ended_keys %}
    left join {{ dbt_delta._ended_rows(table, batch, settings) }} as ended
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'source_data', 'ended') }}
    {%- endif %}
    where not source_data.__dbt_is_late
)
{%- if settings.late == 'insert' %},

{{ dbt_delta._late_operations(table, batch, settings) }}
{%- endif %}

select
    __dbt_operation,
    {{ keys }},
    __dbt_found_id,
    __dbt_at,
    if(__dbt_operation = 'update', __dbt_at, {{ dbt_delta._current(batch, settings) }}) as __dbt_to,
    {{ 'if(__dbt_is_present, ' ~ id ~ ', ' ~ deletion ~ ')' if keeps_deletes else id }} as __dbt_id,
    if(
        __dbt_is_present and __dbt_updated_at is not null,
        {{ dbt_delta._as_time('__dbt_updated_at', batch.updated.type, batch.updated_type) }},
        {{ dbt_delta._as_time('__dbt_at', batch.time, batch.updated_type) }}
    ) as __dbt_updated,
    not __dbt_is_present as __dbt_deleted,
    {{ dbt_delta._held(batch) | join(', ') }}
from changes
lateral view explode(array('update', 'insert')) as __dbt_operation
where
    (__dbt_operation = 'update' and __dbt_is_known)
    or (__dbt_operation = 'insert'{{ ' and __dbt_is_present' if not keeps_deletes }})
{%- if settings.late == 'insert' %}
union all
select * from late_operations
{%- endif %}
{%- endmacro %}

{#
    dbt's hash of keys and times ({text, type}), and more where that would not be unique: dbt takes a NULL
    key for an empty text, and a | in a text for the end of it. In a table of dates a key may have two rows
    of one day.
#}
{% macro _scd_id(batch, times, is_doubled=none, alias=none) -%}
    {%- set names = dbt_delta._key_names(batch['keys'], alias) -%}
    {%- set texts, moments, ambiguous, split = [], [], [], [] -%}
    {%- for key in batch['keys'] -%}
        {%- do texts.append(dbt_delta._id_text(names[loop.index0], key.type)) -%}
        {%- do ambiguous.append(names[loop.index0] ~ ' is null') -%}
        {%- if names | length + times | length > 2 -%}
            {%- do ambiguous.append('contains(' ~ texts[-1] ~ ", '|')") -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for time in times -%}
        {%- do moments.append(dbt_delta._id_text(time.text, time.type)) -%}
        {%- if time.type == 'string' -%}{%- do split.append('contains(' ~ time.text ~ ", '|')") -%}{%- endif -%}
    {%- endfor -%}
    {%- set more = [moments[-1], dbt_delta._if_any(ambiguous, 'to_json(struct(' ~ names | join(', ')
        ~ "), map('ignoreNullFields', 'false', 'timeZone', 'UTC'))")] -%}
    {%- if split -%}
        {%- do more.append(dbt_delta._if_any(split, 'to_json(array(' ~ moments | join(', ') ~ '))')) -%}
    {%- endif -%}
    {%- if is_doubled -%}{%- do more.append(dbt_delta._if_any([is_doubled], '__dbt_before')) -%}{%- endif -%}
    {{- return(snapshot_hash_arguments(texts + moments[:-1] + ['concat(' ~ more | join(', ') ~ ')'])) -}}
{%- endmacro %}

{# A text behind a | where one of some conditions holds, else nothing. #}
{% macro _if_any(conditions, text) -%}
    {{- return('case when ' ~ conditions | join(' or ') ~ " then concat('|', " ~ text ~ ") else '' end") -}}
{%- endmacro %}

{# When a change begins: at the source's own time, unless the history knows better. #}
{% macro _change_time(batch) -%}
{%- set last, now = dbt_delta._last_time(batch), dbt_delta._run_time(batch) -%}
{%- set own = dbt_delta._own_time(batch, 'source_data') -%}
case
            when source_data.__dbt_is_present and ({{ last }} is null or {{ own }} > {{ last }}
                or ({{ own }} = {{ last }} and not source_data.__dbt_is_known))
                then coalesce({{ own }}, {{ now }})
            when {{ last }} is null or {{ now }} > {{ last }} then {{ now }}
            else {{ last if batch.time == 'date' else 'timestampadd(microsecond, 1, ' ~ last ~ ')' }}
        end
{%- endmacro %}

{# The values of the table's columns, by the names that they have until they are written. #}
{% macro _held(batch, alias=none) -%}
    {%- set names = [] -%}
    {%- for column in batch.columns -%}
        {%- do names.append((alias ~ '.' if alias else '') ~ column.held) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{# When the key's open row began, or when its last row ended. #}
{% macro _last_time(batch) -%}
    {{- return(
        'coalesce(source_data.__dbt_found_from, ended.__dbt_ended)' if batch.has_ended_keys
        else 'source_data.__dbt_found_from'
    ) -}}
{%- endmacro %}

{# The time of the run, as dbt_valid_from holds times. #}
{% macro _run_time(batch) -%}
    {%- if batch.time in ('timestamp', 'timestamp_ntz', 'date') -%}
        {{- return(dbt_delta._as_time('source_data.__dbt_now', 'timestamp', batch.time)) -}}
    {%- endif -%}
    {{- return('cast(raise_error(' ~ dbt_delta._literal(
        dbt_delta._named(this) ~ ' must hold the time of this run, and dbt_valid_from is of type ' ~ batch.time
        ~ '. Nothing was written. Use an updated_at of type timestamp or date.'
    ) ~ ') as ' ~ batch.time ~ ')') -}}
{%- endmacro %}

{# Whether a key without open row has been there before: then its last row says when it ended. #}
{% macro _find_ended_keys(table, batch, settings, new_keys) -%}
    {%- if not new_keys or table is none or settings.strategy == 'cdc' -%}{{- return(false) -}}{%- endif -%}
    {{- return(run_query(
        'select 1 from ' ~ dbt_delta._ended_rows(table, batch, settings) ~ ' as ended limit 1'
    ).rows | length > 0) -}}
{%- endmacro %}

{% macro _ended_rows(table, batch, settings) -%}
{%- set ended = ['not ' ~ dbt_delta._is_open(batch, settings)] + dbt_delta._unaliased_bounds(batch) -%}
{%- set keys = dbt_delta._key_names(batch['keys'], 'known') | join(', ') -%}
(
    select {{ keys }}, max(known.__dbt_to) as __dbt_ended, cast(count(*) as string) as __dbt_count
    from (
        select {{ dbt_delta._key_columns(batch['keys']) }}, {{ dbt_delta._quoted(settings.to) }} as __dbt_to
        from {{ table.name }}
        where {{ ended | join(' and ') }}
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
