{#
    Strategy cdc: the source is a feed of changes, with several changes of one key in any order; some of them are
    deletions. cdc_sequence_by orders them.
#}
{% macro _feed_strategy(source_columns, table, settings) -%}
    {%- set sequence, given, types = [], [], [] -%}
    {%- for name in settings.sequence -%}
        {%- set column = dbt_delta._column(source_columns, name) -%}
        {%- if column is none -%}
            {%- do dbt_delta._refuse_missing('cdc_sequence_by', name, source_columns, 'the source') -%}
        {%- endif -%}
        {%- set stored = dbt_delta._column(table.columns, column.name) if table else none -%}
        {%- set name = dbt_delta._quoted(column.name) -%}
        {%- set is_other = stored is not none and not dbt_delta._fits(column.type, stored.type) -%}
        {%- do sequence.append(name) -%}
        {%- do given.append(dbt_delta._as_stored(name, column.type, stored.type) if is_other else name) -%}
        {%- do types.append(
            stored.type if is_other or (stored is not none and stored.type == 'timestamp') else column.type
        ) -%}
    {%- endfor -%}
    {%- set time = dbt_delta._column_or_expression(source_columns, settings.valid_from or settings.sequence[0]) -%}
    {{- return({
        'updated': time, 'row_changed': none, 'scd_id': none, 'sequence': sequence, 'sequence_given': given,
        'sequence_types': types, 'has_own_time': time.text != sequence[0],
    }) -}}
{%- endmacro %}

{% macro _sequence_columns(batch, part='sequence') -%}
    {%- set columns = [] -%}
    {%- for text in batch[part] -%}{%- do columns.append(text ~ ' as __dbt_sequence_' ~ loop.index) -%}{%- endfor -%}
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
{%- set compared = [] -%}
{%- for column in batch.source_columns -%}
    {%- do compared.append(dbt_delta._comparable(dbt_delta._quoted(column.name), column.type)) -%}
{%- endfor -%}
{%- set copies = 'over (partition by ' ~ keys ~ ', ' ~ sequence | join(', ') ~ ' order by __dbt_content)' -%}
select * except (__dbt_content)
from (
    select
        *,
        {%- if settings.scd_type == 1 %}
        dense_rank() over (partition by {{ keys }} order by {{ sequence | join(' desc, ') }} desc) as __dbt_rank,
        {%- endif %}
        row_number() {{ copies }} as __dbt_copy,
        rank() {{ copies }} > 1 as __dbt_conflicts
    from (
        select
            {{ dbt_delta._staged_values(batch) }},
            {{ (dbt_delta._key_columns(batch['keys'], 'given')
                + dbt_delta._sequence_columns(batch, 'sequence_given')) | join(', ') }},
            {{ batch.updated.text }} as __dbt_own_time,
            {{ '(' ~ settings.delete_when ~ ') is true' if settings.delete_when else 'false' }} as __dbt_is_delete,
            struct({{ compared | join(', ') }}) as __dbt_content,
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

{#
    Whether the table has another change where a change of the feed belongs: one of the two is a deletion, or they
    differ in a column or field. What the table has as NULL may not have been there when the change came.
#}
{% macro _is_other_change(table, batch, stored, is_stored_delete) -%}
    {%- set differs = [] -%}
    {%- for column in batch.columns if column.source is not none
        and dbt_delta._column(table.columns, column.name) is not none
        and dbt_delta._quoted(column.name) not in batch.sequence -%}
        {%- set name = dbt_delta._quoted(column.name) -%}
        {%- set type = column.source_type if dbt_delta._type_kind(column.type) == 'atomic' else column.type -%}
        {%- do differs.append(dbt_delta._contradicts(
            stored ~ '.' ~ name, dbt_delta._as_stored('__dbt_values.' ~ name, type, column.type), column.type
        )) -%}
    {%- endfor -%}
    {{- return(
        'if(__dbt_is_delete or ' ~ is_stored_delete ~ ', __dbt_is_delete <> ' ~ is_stored_delete ~ ', '
        ~ (differs | join(' or ') or 'false') ~ ')'
    ) -}}
{%- endmacro %}

{% macro _contradicts(stored, given, type) -%}
    {%- set differs = [] -%}
    {%- if dbt_delta._type_kind(type) == 'struct' -%}
        {%- for field in dbt_delta._struct_fields(type) -%}
            {%- set name = '.' ~ dbt_delta._quoted(field.name) -%}
            {%- do differs.append(dbt_delta._contradicts(stored ~ name, given ~ name, field.type)) -%}
        {%- endfor -%}
    {%- else -%}
        {%- do differs.append(
            'not ' ~ dbt_delta._comparable(stored, type) ~ ' <=> ' ~ dbt_delta._comparable(given, type)
        ) -%}
    {%- endif -%}
    {{- return('(' ~ stored ~ ' is not null and (' ~ differs | join(' or ') ~ '))') -}}
{%- endmacro %}

{# Stops a run that brings such a change. #}
{% macro _refuse_other_change(batch, settings) -%}
    {{- return(
        'raise_error(' ~ dbt_delta._literal(
            dbt_delta._named(this) ~ ' has another change than the source where cdc_sequence_by '
            ~ settings.sequence | join(', ') ~ ' has one value, for example of the key '
        ) ~ ' || ' ~ dbt_delta._shown_keys(batch) ~ ' || ' ~ dbt_delta._literal(
            '. Nothing was written. Add a column to cdc_sequence_by that tells the two apart, leave columns out that are no '
            ~ 'part of a change, such as the time of a load, or filter the change out.'
        ) ~ ')'
    ) -}}
{%- endmacro %}
