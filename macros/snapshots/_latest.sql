{#
    The latest state (cdc_scd_type: 1): a change counts if it is newer than the row. Deleted rows are removed; with
    hard_deletes: new_record they stay with their last values and dbt_is_deleted.
#}
{% macro get_latest_state_merge_sql(table, batch, settings) -%}
{%- set updated, ended, is_newer = [], [], dbt_delta._is_newer(table, batch, settings) -%}
{%- set written = dbt_delta._written_columns(batch, settings) -%}
{%- for name, value in written.items() -%}
    {%- do updated.append(dbt_delta._quoted(name) ~ ' = ' ~ value) -%}
    {%- if name == settings.deleted or dbt_delta._quoted(name) in batch.sequence -%}
        {%- do ended.append(updated[-1]) -%}
    {%- endif -%}
{%- endfor -%}
merge into {{ table.name }} as history
using {{ dbt_delta._marked_state(table, batch) }} as source
on
    {{ dbt_delta._same_state(batch) }}
    and source.__dbt_matchable
when matched and {{ is_newer }} and source.__dbt_is_delete then
    {{ 'update set ' ~ ended | join(', ') if settings.keeps_deletions else 'delete' }}
when matched and {{ is_newer }} then
    update set {{ updated | join(', ') }}
when not matched{{ ' and not source.__dbt_is_delete' if not settings.keeps_deletions }} then
    insert ({{ dbt_delta._quoted_list(written.keys()) }})
    values ({{ written.values() | join(', ') }})
{%- endmacro %}

{# One row for each change that the table does not have yet. #}
{% macro get_latest_state_changes_sql(table, batch, settings) -%}
select 1
from {{ batch.from }} as source
left join (select *, true as __dbt_is_there from {{ table.name }}) as history
    on {{ dbt_delta._same_state(batch) }}
where
    (history.__dbt_is_there is null{{ ' and not source.__dbt_is_delete' if not settings.keeps_deletions }})
    or (history.__dbt_is_there and {{ dbt_delta._is_newer(table, batch, settings) }})
{%- endmacro %}

{# Whether a change is newer than the row of its key; fails where the row is of another change in its place. #}
{% macro _is_newer(table, batch, settings) -%}
    {%- set stored = [] -%}
    {%- for name in batch.sequence -%}{%- do stored.append('history.' ~ name) -%}{%- endfor -%}
    {%- set stored = 'struct(' ~ stored | join(', ') ~ ')' -%}
    {%- set given = 'struct(' ~ dbt_delta._sequence_names(batch, 'source') | join(', ') ~ ')' -%}
    {%- set is_other = dbt_delta._is_other_change(
        table, batch, 'history', '(' ~ dbt_delta._is_deletion(batch, settings, 'history') ~ ')'
    ) -%}
    {{- return(
        '(' ~ stored ~ ' < ' ~ given ~ ' or history.' ~ batch.sequence[0] ~ ' is null'
        ~ ' or if(' ~ stored ~ ' = ' ~ given ~ ' and ' ~ is_other ~ ', '
        ~ dbt_delta._refuse_other_change(batch, settings) ~ ', false))'
    ) -}}
{%- endmacro %}

{% macro _same_state(batch) -%}
    {{- return((dbt_delta._matched_keys(batch) + dbt_delta._bounds(batch, 'history')) | join('\n    and ')) -}}
{%- endmacro %}

{# See _marker.sql: for a NULL key the source must say whether the table has it. #}
{% macro _marked_state(table, batch) -%}
    {%- set has_null = dbt_delta._any_null(dbt_delta._key_names(batch['keys'], 'events')) -%}
(
    select events.*, not {{ has_null }} or found.__dbt_is_there is not null as __dbt_matchable
    from {{ batch.from }} as events
    left join (
        select distinct {{ dbt_delta._key_columns(batch['keys']) | join(', ') }}, true as __dbt_is_there from {{ table.name }}
    ) as found
        on {{ has_null }} and {{ dbt_delta._same_snapshot_keys(batch['keys'], 'events', 'found') }}
)
{%- endmacro %}
