{#
    Repairs what dbt-spark's own snapshots leave in a table: the helper columns dbt_change_type,
    dbt_unique_key and dbt_unique_key_N, and deletion rows (hard_deletes: new_record) that have
    lost their key and values.
#}
{% macro repair_snapshot(snapshot=none, dry_run=true) -%}
    {%- set node = dbt_delta._snapshot_node(snapshot) -%}
    {%- set existing = dbt_delta._existing(api.Relation.create(schema=node.schema, identifier=node.alias)) -%}
    {%- if existing is none or existing.type == 'view' or existing.provider != 'delta' -%}
        {%- do dbt_delta._refuse(
            "repair_snapshot: '" ~ snapshot ~ "' has no Delta table " ~ node.schema ~ '.' ~ node.alias
            ~ ' in this target. Run dbt snapshot, or give --target.'
        ) -%}
    {%- endif -%}
    {%- set name = dbt_delta._named(existing.relation) -%}
    {%- set view = dbt_delta._quoted(node.alias ~ '__dbt_repair') -%}
    {%- set statements = [] -%}
    {%- set lost = dbt_delta._lost_deletions(existing, node) -%}
    {%- if lost.sql is not none -%}
        {%- do run_query('create or replace temporary view ' ~ view ~ ' as\n' ~ lost.sql) -%}
        {%- set rows = run_query('select count(*) as found from ' ~ view).rows[0]['found'] | int -%}
        {%- if rows -%}
            {%- do print(
                rows ~ ' deletion rows of ' ~ name ~ ' get back the key and the values of the row they ended.'
            ) -%}
            {%- do statements.append(dbt_delta.get_fill_deletions_sql(name, view, lost)) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set left = dbt_delta._left_over_columns(existing) -%}
    {%- if left -%}
        {%- do print(name ~ ' loses the helper columns ' ~ left | join(', ') ~ '.') -%}
        {%- do statements.append(dbt_delta.get_drop_columns_sql(existing, left)) -%}
    {%- endif -%}
    {%- if not statements -%}
        {%- do print(name ~ ' needs no repair.') -%}
    {%- elif dry_run -%}
        {%- do print('Nothing was changed. Repair with --args "{snapshot: ' ~ snapshot ~ ', dry_run: false}":') -%}
    {%- endif -%}
    {%- for statement in statements -%}
        {%- if dry_run -%}{%- do print(statement ~ ';') -%}
        {%- else -%}{%- do run_query(statement) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for made in (view, dbt_delta._quoted(node.alias ~ '__dbt_documented')) if made in statements | join(' ') -%}
        {%- do dbt_delta._drop_temporary_view(made) -%}
    {%- endfor -%}
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
    Deletion rows whose key is NULL, with the row that each ended: {sql, id, columns}. dbt makes the id of
    a deletion of the id of that row and of its own time, at which that row ends.
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
    and {{ snapshot_hash_arguments(['ended.' ~ id, 'lost.' ~ from]) }} = lost.{{ id }}
    {%- endset -%}
    {{- return({'sql': sql if found else none, 'id': meta.dbt_scd_id, 'columns': columns}) -}}
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

{#
    Columns go by ALTER where the table maps columns, else by a new version without them, which keeps
    what else the table promises.
#}
{% macro get_drop_columns_sql(existing, names) -%}
    {%- set table = dbt_delta._named(existing.relation) -%}
    {%- if dbt_delta._has_property(existing.properties, 'delta.columnMapping.mode', 'name')
        or dbt_delta._has_property(existing.properties, 'delta.columnMapping.mode', 'id') -%}
        {{- return('alter table ' ~ table ~ ' drop columns (' ~ dbt_delta._quoted_list(names) ~ ')') -}}
    {%- endif -%}
    {%- set comments, kept, properties = {}, [], {} -%}
    {%- for column in existing.columns if column.name not in names -%}
        {%- do kept.append(column) -%}
        {%- if column.comment -%}{%- do comments.update({column.name: column.comment}) -%}{%- endif -%}
    {%- endfor -%}
    {%- for key, value in existing.properties.items()
        if not key.startswith(('delta.feature.', 'delta.minReaderVersion', 'delta.minWriterVersion')) -%}
        {%- if value is none -%}
            {%- do dbt_delta._refuse(
                'repair_snapshot: Spark does not tell the property ' ~ key ~ ' of ' ~ table ~ ', which the table '
                ~ 'would lose. Nothing was changed. Run it in the embedded session.'
            ) -%}
        {%- endif -%}
        {%- do properties.update({key: value}) -%}
    {%- endfor -%}
    {%- set sql = 'select ' ~ dbt_delta._quoted_list(kept | map(attribute='name')) ~ ' from ' ~ table -%}
    {%- set view = dbt_delta._quoted(existing.relation.identifier ~ '__dbt_documented') -%}
    {%- do run_query(dbt_delta.get_create_view_sql(view, sql, kept, {'column_comments': comments}, temporary=true)) -%}
    {{- return(dbt_delta.get_create_table_sql(existing.relation, 'select * from ' ~ view, {
        'format': 'delta', 'partitions': existing.partitions, 'clustering': existing.clustering,
        'buckets': {'columns': []}, 'options': {}, 'location': none, 'comment': existing.comment,
        'properties': properties, 'defaults': {}, 'checks': {},
    }, replace=true)) -}}
{%- endmacro %}
