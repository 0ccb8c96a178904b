{#
    Ends rows and inserts others, in one commit. A row that follows an open row was compared with it before: if that
    open row has changed or is gone, another run wrote meanwhile, and this run stops. The MERGE itself places a feed.
#}
{% macro get_snapshot_merge_sql(table, batch, settings, operations) -%}
{%- set is_judged, finds_ended = settings.strategy != 'cdc', settings.strategy == 'cdc' or settings.late == 'insert' -%}
{%- set to, id = dbt_delta._quoted(settings.to), 'history.' ~ dbt_delta._quoted(settings.id) -%}
{%- set is_open = dbt_delta._is_open(batch, settings, 'history') -%}
{%- set found = ["(source.__dbt_operation = 'update' and " ~ id ~ ' = source.__dbt_found_id)'] -%}
{%- if is_judged -%}
    {%- do found.append(
        "(source.__dbt_operation = 'insert' and " ~ id ~ ' is not null and not ' ~ id ~ ' <=> source.__dbt_found_id'
        ~ (' and ' ~ is_open if finds_ended else '') ~ ')'
    ) -%}
{%- endif -%}
{%- set on = dbt_delta._matched_keys(batch) + ['(' ~ found | join(' or ') ~ ')']
    + ([] if finds_ended else [is_open]) -%}
{%- set written = dbt_delta._written_columns(batch, settings) -%}
{%- set updated = [to ~ ' = source.__dbt_to'] -%}
{%- for column in batch.columns if settings.fills_deletions -%}
    {%- do updated.append(dbt_delta._quoted(column.name) ~ ' = ' ~ written[column.name]) -%}
{%- endfor -%}
{%- set stop = 'raise_error(' ~ dbt_delta._literal(
    'Another run changed ' ~ table.name ~ ' at the same time. Nothing was written. Run the snapshot again.'
) ~ ')' -%}
merge into {{ table.name }} as history
using {{ operations }} as source
on
    {{ (on + dbt_delta._bounds(batch, 'history')) | join('\n    and ') }}
when matched and source.__dbt_operation = 'update' then
    update set {{ updated | join(', ') }}
{%- if is_judged %}
when matched then
    update set {{ to }} = cast({{ stop }} as {{ batch.time }})
{%- endif %}
when not matched and source.__dbt_operation = 'insert' then
    insert ({{ dbt_delta._quoted_list(written.keys()) }})
    values ({{ written.values() | join(', ') }})
{%- if is_judged %}
when not matched then
    insert ({{ dbt_delta._quoted(settings.id) }})
    values ({{ stop }})
{%- endif %}
{%- endmacro %}

{# Matches the keys of table and source in a MERGE; in the source a key has its own column. #}
{% macro _matched_keys(batch) -%}
    {%- set same = [] -%}
    {%- for key in batch['keys'] -%}
        {%- set text = 'history.' ~ key.text if key.name else key.text -%}
        {%- do same.append(text ~ ' <=> source.__dbt_key_' ~ loop.index) -%}
    {%- endfor -%}
    {{- return(same) -}}
{%- endmacro %}

{# The table's columns and their values from `source`; dbt_is_deleted is a text, in dbt-databricks a boolean. #}
{% macro _written_columns(batch, settings) -%}
    {%- set written = {} -%}
    {%- for column in batch.columns -%}
        {%- do written.update({column.name: 'source.__dbt_values.' ~ dbt_delta._quoted(column.name)}) -%}
    {%- endfor -%}
    {%- if settings.scd_type == 2 -%}
        {%- do written.update({
            settings.id: 'source.__dbt_id', settings.updated: 'source.__dbt_updated',
            settings.from: 'source.__dbt_at', settings.to: 'source.__dbt_to',
        }) -%}
    {%- endif -%}
    {%- if batch.deleted_type is not none -%}
        {%- set flag = 'source.__dbt_is_delete' -%}
        {%- do written.update({
            settings.deleted: flag if batch.deleted_type == 'boolean' else 'initcap(cast(' ~ flag ~ ' as string))',
        }) -%}
    {%- endif -%}
    {{- return(written) -}}
{%- endmacro %}

{# The first version of the table. #}
{% macro get_first_snapshot_sql(batch, settings) -%}
{%- set columns = [] -%}
{%- for name, value in dbt_delta._written_columns(batch, settings).items() -%}
    {%- do columns.append(value ~ ' as ' ~ dbt_delta._quoted(name)) -%}
{%- endfor -%}
select
    {{ columns | join(',\n    ') }}
from {{ batch.from if settings.scd_type == 1
    else '(\n' ~ dbt_delta.get_snapshot_operations_sql(none, batch, settings) ~ '\n)' }} as source
where {{ dbt_delta._is_written(settings) }}
{%- endmacro %}
