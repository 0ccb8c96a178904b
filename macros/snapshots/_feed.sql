{#
    Strategy cdc: the source is a feed of changes, with several changes of one key in any order; some of them are
    deletions. cdc_sequence_by orders them.
#}
{% macro _feed_strategy(source_columns, table, settings) -%}
    {%- set sequence, types = [], [] -%}
    {%- for name in settings.sequence -%}
        {%- set column = dbt_delta._column(source_columns, name) -%}
        {%- if column is none -%}
            {%- do dbt_delta._refuse_missing('cdc_sequence_by', name, source_columns, 'the source') -%}
        {%- endif -%}
        {%- set stored = dbt_delta._column(table.columns, column.name) if table else none -%}
        {%- do sequence.append(dbt_delta._quoted(column.name)) -%}
        {%- do types.append('timestamp' if stored is not none and stored.type == 'timestamp' else column.type) -%}
    {%- endfor -%}
    {%- set time = dbt_delta._column_or_expression(source_columns, settings.valid_from or settings.sequence[0]) -%}
    {{- return({
        'updated': time, 'row_changed': none, 'scd_id': none, 'sequence': sequence, 'sequence_types': types,
        'has_own_time': time.text != sequence[0],
    }) -}}
{%- endmacro %}

{% macro _sequence_columns(batch) -%}
    {%- set columns = [] -%}
    {%- for name in batch.sequence -%}{%- do columns.append(name ~ ' as __dbt_sequence_' ~ loop.index) -%}{%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{% macro _sequence_names(batch, alias=none) -%}
    {%- set names = [] -%}
    {%- for name in batch.sequence -%}
        {%- do names.append((alias ~ '.' if alias else '') ~ '__dbt_sequence_' ~ loop.index) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{# The changes without duplicates; for the latest state only the last change of each key. #}
{% macro get_feed_stage_sql(batch, settings) -%}
{%- set keys, sequence = dbt_delta._key_names(batch['keys']) | join(', '), dbt_delta._sequence_names(batch) -%}
{%- set place = 'partition by ' ~ keys ~ ', ' ~ sequence | join(', ') -%}
{%- set compared = [] -%}
{%- for column in batch.source_columns -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {#- A hash of several values ignores NULLs. -#}
    {%- do compared.extend([dbt_delta._comparable(name, column.type), name ~ ' is null']) -%}
{%- endfor -%}
select *
from (
    select
        *,
        {%- if settings.scd_type == 1 %}
        dense_rank() over (partition by {{ keys }} order by {{ sequence | join(' desc, ') }} desc) as __dbt_rank,
        {%- endif %}
        row_number() over ({{ place }} order by __dbt_hash) as __dbt_copy,
        min(__dbt_hash) over ({{ place }}) < max(__dbt_hash) over ({{ place }}) as __dbt_conflicts
    from (
        select
            {{ dbt_delta._staged_values(batch) }},
            {{ (dbt_delta._key_columns(batch['keys']) + dbt_delta._sequence_columns(batch)) | join(', ') }},
            {{ batch.updated.text }} as __dbt_own_time,
            {{ '(' ~ settings.delete_when ~ ') is true' if settings.delete_when else 'false' }} as __dbt_is_delete,
            xxhash64({{ compared | join(', ') }}) as __dbt_hash,
            true as __dbt_is_present, false as __dbt_is_known
        from (
{{ batch.sql }}
        ) as source_data
    ) as events
) as ranked
where (__dbt_copy = 1{{ ' and __dbt_rank = 1' if settings.scd_type == 1 }}) or __dbt_conflicts
    or {{ dbt_delta._without_time(batch, settings) }}
{%- endmacro %}

{#
    A deletion without its own row (hard_deletes: new_record) is kept as a row that ends when it begins, so that an
    older change that arrives later finds it. The row is never valid; its id marks it.
#}
{% macro _deletion_mark() -%}{{- return('deleted ') -}}{%- endmacro %}

{# The staged rows as events; see _events.sql. Only the MERGE sees which of them the table already has. #}
{% macro _feed_events(batch, settings) -%}
{%- set at = dbt_delta._own_time(batch, 'staged') -%}
{%- set times = [] -%}
{%- for type in batch.sequence_types -%}
    {%- do times.append({'text': '__dbt_sequence_' ~ loop.index, 'type': type}) -%}
{%- endfor -%}
{%- set id = dbt_delta._scd_id(batch, times + ([{'text': at, 'type': batch.time}] if batch.has_own_time else [])) -%}
{%- set mark = 'if(__dbt_is_delete, ' ~ dbt_delta._literal(dbt_delta._deletion_mark()) ~ ", '')" -%}
select
    {{ (dbt_delta._key_names(batch['keys']) + dbt_delta._sequence_names(batch)) | join(', ') }},
    {{ at }} as __dbt_at, __dbt_is_delete, __dbt_is_delete and {{ settings.marks_deletions | lower }} as __dbt_is_mark,
    false as __dbt_is_known, cast(null as string) as __dbt_found_id, true as __dbt_is_late,
    {{ 'concat(' ~ mark ~ ', ' ~ id ~ ')' if settings.marks_deletions else id }} as __dbt_id,
    {{ dbt_delta._as_time(at, batch.time, batch.updated_type) }} as __dbt_updated,
    __dbt_values
from {{ batch.from }} as staged
{%- endmacro %}
