{#
    Ends rows and inserts others, in one commit. What follows an open row was judged by it before: another open row, or
    none where one was, is the work of another run meanwhile, and stops this one. A feed is placed by the MERGE itself.
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
    table.name ~ ' was changed by another run at the same time. Nothing was written. Run the snapshot again.'
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

{# Keys of the table and of the source of a MERGE, whose columns have other names than those of an expression. #}
{% macro _matched_keys(batch) -%}
    {%- set same = [] -%}
    {%- for key in batch['keys'] -%}
        {%- set text = 'history.' ~ key.text if key.name else key.text -%}
        {%- do same.append(text ~ ' <=> source.__dbt_key_' ~ loop.index) -%}
    {%- endfor -%}
    {{- return(same) -}}
{%- endmacro %}

{# The table's columns, and what of `source` comes into them; dbt_is_deleted is text, with dbt-databricks a boolean. #}
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

{# The table as it begins. #}
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
