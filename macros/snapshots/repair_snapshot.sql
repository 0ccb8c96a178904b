{#
    Repairs the tables of dbt-spark's own snapshots: it removes the helper columns dbt_change_type, dbt_unique_key and
    dbt_unique_key_N, and fills deletion rows (hard_deletes: new_record) that have lost their key and values.
#}
{% macro repair_snapshot(snapshot=none, dry_run=true) -%}
    {%- do dbt_delta._in_format('check_operation')('repair_snapshot') -%}
    {%- set node = dbt_delta._snapshot_node(snapshot) -%}
    {%- set existing = dbt_delta._existing(api.Relation.create(schema=node.schema, identifier=node.alias)) -%}
    {%- if existing is none or existing.type == 'view' or existing.provider != 'delta' -%}
        {%- do dbt_delta._refuse(
            "repair_snapshot: '" ~ snapshot ~ "' has no Delta table " ~ node.schema ~ '.' ~ node.alias
            ~ ' in this target. Run dbt snapshot, or use --target.'
        ) -%}
    {%- endif -%}
    {%- set name = dbt_delta._named(existing.relation) -%}
    {%- set lost = dbt_delta._lost_deletions(existing, node) -%}
    {%- set rows = 0 if lost.sql is none
        else dbt_delta._ask('select count(*) as found from (' ~ lost.sql ~ ')').rows[0]['found'] | int -%}
    {%- if rows -%}
        {%- do print(
            rows ~ ' deletion rows of ' ~ name ~ ' get the key and the values of the row that they ended.'
        ) -%}
    {%- endif -%}
    {%- set left = dbt_delta._left_over_columns(existing) -%}
    {%- if left -%}
        {%- do print(name ~ ' loses the helper columns ' ~ left | join(', ') ~ '.') -%}
    {%- endif -%}
    {%- set statements = dbt_delta.get_repair_sql(existing, lost if rows else none, left) -%}
    {%- if not statements -%}
        {%- do print(name ~ ' needs no repair.') -%}
    {%- elif dry_run -%}
        {%- do print('Nothing was changed. Repair with --args "{snapshot: ' ~ snapshot ~ ', dry_run: false}":') -%}
    {%- endif -%}
    {%- for statement in statements -%}
        {%- if dry_run -%}{%- do print(statement ~ ';') -%}
        {%- else -%}{%- do dbt_delta._execute(statement) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if statements and not dry_run -%}
        {%- do dbt_delta._drop_temporary_view(dbt_delta._repair_view(existing)) -%}
    {%- endif -%}
{%- endmacro %}

{% macro _repair_view(existing) -%}
    {{- return(dbt_delta._quoted(existing.relation.identifier ~ '__dbt_repair')) -}}
{%- endmacro %}

{% macro _snapshot_node(name) -%}
    {%- set known = [] -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'snapshot' -%}
        {%- if node.name == name -%}{{- return(node) -}}{%- endif -%}
        {%- do known.append(node.name) -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse(
        "repair_snapshot: there is no snapshot '" ~ name ~ "' in the project. "
        ~ ('Its snapshots are ' ~ known | sort | join(', ') if known else 'It has none') ~ '.'
    ) -%}
{%- endmacro %}

{% macro _left_over_columns(existing) -%}
    {%- set left = [] -%}
    {%- for column in existing.columns
        if modules.re.match('dbt_(change_type|unique_key(_[0-9]+)?)$', column.name | lower) -%}
        {%- do left.append(column.name) -%}
    {%- endfor -%}
    {{- return(left) -}}
{%- endmacro %}

{#
    Deletion rows whose key is NULL, with the row that each ended: {sql, id, columns}. dbt computes the id of a
    deletion from the id of that row and from its own time, at which that row ends.
#}
{% macro _lost_deletions(existing, node) -%}
    {%- set meta = {} -%}
    {%- for name in ('dbt_scd_id', 'dbt_valid_from', 'dbt_valid_to', 'dbt_updated_at', 'dbt_is_deleted') -%}
        {%- do meta.update({name: (node.config.get('snapshot_meta_column_names') or {}).get(name) or name}) -%}
    {%- endfor -%}
    {%- set own = meta.values() | map('lower') | list + dbt_delta._left_over_columns(existing) | map('lower') | list -%}
    {%- set key = node.config.unique_key -%}
    {%- set keys, columns, selected = [], [], [] -%}
    {%- for one in ([key] if key is string else key) -%}
        {%- do keys.append(dbt_delta._column_or_expression(existing.columns, one).text ~ ' is null') -%}
    {%- endfor -%}
    {%- for column in existing.columns if column.name | lower not in own -%}
        {%- do columns.append(column.name) -%}
        {%- do selected.append('ended.' ~ dbt_delta._quoted(column.name)) -%}
    {%- endfor -%}
    {%- set found = dbt_delta._column(existing.columns, meta.dbt_is_deleted) is not none -%}
    {%- set name = dbt_delta._named(existing.relation) -%}
    {%- set id, from = dbt_delta._quoted(meta.dbt_scd_id), dbt_delta._quoted(meta.dbt_valid_from) -%}
    {%- set to = dbt_delta._quoted(meta.dbt_valid_to) -%}
    {%- set sql -%}
select lost.{{ id }} as __dbt_id, {{ selected | join(', ') }}
from (
    select *
    from {{ name }}
    where lower(cast({{ dbt_delta._quoted(meta.dbt_is_deleted) }} as string)) = 'true' and {{ keys | join(' and ') }}
) as lost
inner join {{ name }} as ended
    on ended.{{ to }} = lost.{{ from }}
    and lost.{{ id }} in (
        {{ snapshot_hash_arguments(['ended.' ~ id, 'lost.' ~ from]) }},
        {#- dbt-spark's own, in a session like this one #}
        {{ snapshot_hash_arguments(['ended.' ~ id, 'cast(lost.' ~ from ~ ' as string)']) }}
    )
    {%- endset -%}
    {{- return({'sql': sql if found else none, 'id': meta.dbt_scd_id, 'columns': columns}) -}}
{%- endmacro %}

{#
    The statements of a repair with one commit: a new version of the table without the columns, and with everything
    else. If the table has column mapping, an ALTER drops the columns in its own commit and changes nothing else.
#}
{% macro get_repair_sql(existing, lost, left) -%}
    {%- set view = dbt_delta._repair_view(existing) -%}
    {%- set is_mapped = dbt_delta._has_feature(existing.properties, 'column_mapping') -%}
    {%- if left and not is_mapped -%}
        {{- return(dbt_delta.get_rebuild_sql(existing, lost, left, view)) -}}
    {%- endif -%}
    {%- set statements = [] -%}
    {%- if lost is not none -%}
        {%- do statements.append('create or replace temporary view ' ~ view ~ ' as\n' ~ lost.sql) -%}
        {%- do statements.append(
            dbt_delta.get_fill_deletions_sql(dbt_delta._named(existing.relation), view, lost)
        ) -%}
    {%- endif -%}
    {%- if left -%}
        {%- do statements.append(
            'alter table ' ~ dbt_delta._named(existing.relation) ~ ' drop columns (' ~ dbt_delta._quoted_list(left) ~ ')'
        ) -%}
    {%- endif -%}
    {{- return(statements) -}}
{%- endmacro %}

{% macro get_fill_deletions_sql(name, view, lost) -%}
{%- set updated = [] -%}
{%- for column in lost['columns'] -%}
    {%- do updated.append(dbt_delta._quoted(column) ~ ' = ended.' ~ dbt_delta._quoted(column)) -%}
{%- endfor -%}
merge into {{ name }} as history
using {{ view }} as ended
on history.{{ dbt_delta._quoted(lost.id) }} = ended.__dbt_id
when matched then
    update set {{ updated | join(', ') }}
{%- endmacro %}

{# A new version of the table without the helper columns, and with the values of its deletion rows. #}
{% macro get_rebuild_sql(existing, lost, left, view) -%}
    {%- set comments, kept, selected = {}, [], [] -%}
    {%- for column in existing.columns if column.name not in left -%}
        {%- do kept.append(column) -%}
        {%- if column.comment -%}{%- do comments.update({column.name: column.comment}) -%}{%- endif -%}
        {%- set own = 'history.' ~ dbt_delta._quoted(column.name) -%}
        {%- do selected.append(
            'if(ended.__dbt_id is null, ' ~ own ~ ', ended.' ~ dbt_delta._quoted(column.name) ~ ') as '
            ~ dbt_delta._quoted(column.name) if lost is not none and column.name in lost['columns'] else own
        ) -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_untold(existing, kept) -%}
    {%- set sql -%}
select {{ selected | join(', ') }}
from {{ dbt_delta._named(existing.relation) }} as history
        {%- if lost is not none %}
left join (
    select *
    from (select *, row_number() over (partition by __dbt_id order by __dbt_id) as __dbt_copy from (
{{ lost.sql }}
    ))
    where __dbt_copy = 1
) as ended
    on history.{{ dbt_delta._quoted(lost.id) }} = ended.__dbt_id
        {%- endif -%}
    {%- endset -%}
    {%- set clustering = [] -%}
    {%- for path in existing.clustering -%}
        {%- do clustering.append([path] if dbt_delta._column(kept, path) else path.split('.')) -%}
    {%- endfor -%}
    {{- return([
        dbt_delta.get_create_view_sql(view, sql, kept, {
            'column_comments': comments, 'comment': none, 'properties': none,
        }, temporary=true),
        dbt_delta.get_create_table_sql(existing.relation, 'select * from ' ~ view, {
            'format': 'delta', 'partitions': existing.partitions, 'clustering': clustering,
            'buckets': {'columns': []}, 'options': {}, 'location': none, 'comment': existing.comment,
            'properties': dbt_delta._restated_properties(existing), 'defaults': {}, 'checks': {},
        }, replace=true),
    ]) -}}
{%- endmacro %}

{# The properties of a table that its new version must set; Delta sets the others itself. #}
{% macro _restated_properties(existing) -%}
    {%- set properties = {} -%}
    {%- for key, value in existing.properties.items() if dbt_delta._is_restated(key) -%}
        {%- if value is none -%}
            {%- do dbt_delta._refuse(
                'repair_snapshot: Spark hides the property ' ~ key ~ ' of ' ~ dbt_delta._named(existing.relation)
                ~ ', which the table would lose. Nothing was changed. Run it in the embedded session.'
            ) -%}
        {%- endif -%}
        {%- do properties.update({key: value}) -%}
    {%- endfor -%}
    {{- return(properties) -}}
{%- endmacro %}

{# Refuses columns with what CREATE TABLE AS cannot set; a server does not show whether columns have it. #}
{% macro _refuse_untold(existing, columns) -%}
    {%- set name = dbt_delta._named(existing.relation) -%}
    {%- set way_out = '. Nothing was changed. With column mapping columns are dropped without a rebuild: '
        ~ dbt_delta.get_set_properties_sql(existing.relation, dbt_delta._feature_properties(['column_mapping']))
        ~ ', then run it again.' -%}
    {%- for column in columns -%}
        {%- if 'nullable' not in column -%}
            {%- do dbt_delta._refuse(
                'repair_snapshot: a server does not show whether columns of ' ~ name ~ ' have a default, which the '
                ~ 'table would lose' ~ way_out ~ ' Or run it in the embedded session.'
            ) -%}
        {%- endif -%}
        {%- set promise = 'a default' if column.default is not none else 'values that Delta computes'
            if column.is_generated else column.declared if column.declared else none if column.nullable else 'NOT NULL' -%}
        {%- if promise is not none -%}
            {%- do dbt_delta._refuse(
                'repair_snapshot: column ' ~ column.name ~ ' of ' ~ name ~ ' has ' ~ promise
                ~ ', which a new version of the table would lose' ~ way_out
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
