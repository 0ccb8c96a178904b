{#
    Ends rows and inserts others, in one commit. The operations of a snapshot were judged before, by
    the open row of their key: another open row, or none where one was, is the work of another
    run meanwhile, and stops this one.
#}
{% macro get_snapshot_merge_sql(table, batch, settings, operations) -%}
{%- set is_cdc = settings.strategy == 'cdc' -%}
{%- set to, id = dbt_delta._quoted(settings.to), 'history.' ~ dbt_delta._quoted(settings.id) -%}
{%- set is_open = dbt_delta._is_open(batch, settings, 'history') -%}
{%- set on, values = [], [] -%}
{%- for key in batch['keys'] -%}
    {#- An expression finds its columns in the table only: those of the source have other names. -#}
    {%- set side = 'history.' ~ key.text if key.name else key.text -%}
    {%- do on.append(side ~ ' <=> source.__dbt_key_' ~ loop.index) -%}
{%- endfor -%}
{%- set ends = "(source.__dbt_operation = 'update' and " ~ id ~ ' = source.__dbt_found_id)' -%}
{%- set clashes = "(source.__dbt_operation = 'insert' and " ~ id ~ ' is not null and not ' ~ id
    ~ ' <=> source.__dbt_found_id' ~ (' and ' ~ is_open if settings.late == 'insert' else '') ~ ')' -%}
{%- if is_cdc -%}
    {%- do on.append(ends) -%}
{%- else -%}
    {%- do on.append('(' ~ ends ~ ' or ' ~ clashes ~ ')') -%}
    {%- if settings.late != 'insert' -%}{%- do on.append(is_open) -%}{%- endif -%}
{%- endif -%}
{%- set written = dbt_delta._written_columns(batch, settings) -%}
{%- for value in written.values() -%}
    {%- do values.append(
        dbt_delta._deletion_flag(batch, 'source.' ~ value) if value == '__dbt_deleted' else 'source.' ~ value
    ) -%}
{%- endfor -%}
{%- set updated = [to ~ ' = source.__dbt_to'] -%}
{%- if is_cdc and dbt_delta._keeps_deletions(settings) -%}
    {#- A row of a deletion has what its key had last, which an older change may tell later. -#}
    {%- for column in batch.columns -%}
        {%- do updated.append(dbt_delta._quoted(column.name) ~ ' = source.' ~ column.held) -%}
    {%- endfor -%}
{%- endif -%}
{%- set stop = 'raise_error(' ~ dbt_delta._literal(
    table.name ~ ' was changed by another run at the same time. Nothing was written. Run the snapshot again.'
) ~ ')' -%}
merge into {{ table.name }} as history
using {{ operations }} as source
on
    {{ (on + dbt_delta._bounds(batch, 'history')) | join('\n    and ') }}
when matched and source.__dbt_operation = 'update' then
    update set {{ updated | join(', ') }}
{%- if not is_cdc %}
when matched then
    update set {{ to }} = cast({{ stop }} as {{ batch.time }})
{%- endif %}
when not matched and source.__dbt_operation = 'insert' then
    insert ({{ dbt_delta._quoted_list(written.keys()) }})
    values ({{ values | join(', ') }})
{%- if not is_cdc %}
when not matched then
    insert ({{ dbt_delta._quoted(settings.id) }})
    values ({{ stop }})
{%- endif %}
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
    {%- for column in batch.columns -%}{%- do written.update({column.name: column.held}) -%}{%- endfor -%}
    {%- do written.update({
        settings.id: '__dbt_id', settings.updated: '__dbt_updated', settings.from: '__dbt_at', settings.to: '__dbt_to',
    }) -%}
    {%- if batch.deleted_type is not none -%}
        {%- do written.update({settings.deleted: '__dbt_deleted'}) -%}
    {%- endif -%}
    {{- return(written) -}}
{%- endmacro %}

{# The history as it begins. #}
{% macro get_first_snapshot_sql(table, batch, settings) -%}
{%- if settings.strategy == 'cdc' -%}
    {{- return(dbt_delta.get_first_cdc_sql(batch, settings)) -}}
{%- endif -%}
{%- set columns = [] -%}
{%- for column in batch.columns -%}
    {%- do columns.append('source_data.' ~ column.held ~ ' as ' ~ dbt_delta._quoted(column.name)) -%}
{%- endfor -%}
{%- set at = dbt_delta._first_time(batch, settings, batch.time) -%}
select
    {{ columns | join(',\n    ') }},
    {{ 'source_data.__dbt_scd_id' if batch.scd_id else dbt_delta._scd_id(batch, [{'text': at, 'type': batch.time}]) }} as {{ dbt_delta._quoted(settings.id) }},
    {{ dbt_delta._first_time(batch, settings, batch.updated_type) }} as {{ dbt_delta._quoted(settings.updated) }},
    {{ at }} as {{ dbt_delta._quoted(settings.from) }},
    {{ dbt_delta._current(batch, settings) }} as {{ dbt_delta._quoted(settings.to) }}
    {%- if batch.deleted_type is not none %},
    'False' as {{ dbt_delta._quoted(settings.deleted) }}
    {%- endif %}
from {{ batch.from }} as source_data
{%- endmacro %}

{# When a row begins that is the first of its key, as a type. #}
{% macro _first_time(batch, settings, wanted) -%}
    {%- set own = dbt_delta._as_time('source_data.__dbt_updated_at', batch.updated.type, wanted) -%}
    {%- if settings.strategy == 'timestamp' -%}{{- return(own) -}}{%- endif -%}
    {{- return('coalesce(' ~ own ~ ', ' ~ dbt_delta._as_time('source_data.__dbt_now', 'timestamp', wanted) ~ ')') -}}
{%- endmacro %}
