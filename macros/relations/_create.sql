{#
    Builds the model's table from a SELECT, in one commit, whatever stands in its place: a table
    that can be is replaced by a new version of itself; anything else stays until its successor is
    whole, and then goes by two renames.
#}
{% macro _build_table(relation, sql, existing, layout) -%}
    {%- set in_place = dbt_delta._is_replaceable(existing, layout) if existing is not none
        else layout.format == 'delta' and not layout.location and dbt_delta._is_broken_off(relation) -%}
    {%- set beside = existing is not none and not in_place -%}
    {%- set successor = dbt_delta._beside(relation, 'new') if beside else relation -%}
    {%- set source = dbt_delta._prepare_source(sql, layout) -%}
    {%- set create = dbt_delta.get_create_table_sql(successor, source, layout, replace=in_place) -%}
    {%- set tag = {} -%}
    {%- if beside -%}
        {%- do tag.update({'dbt_replaced': 'view' if existing.type == 'view' else existing.provider ~ ' table'}) -%}
    {%- endif -%}
    {%- call dbt_delta._tagging(tag) -%}
        {%- call statement('main') -%}{{ create }}{%- endcall -%}
    {%- endcall -%}
    {%- if layout.column_comments -%}
        {%- do dbt_delta._drop_temporary_view(dbt_delta._documented_view()) -%}
    {%- endif -%}
    {%- if beside -%}
        {%- do dbt_delta._swap(existing, successor) -%}
    {%- endif -%}
    {%- do dbt_delta._optimize_built(layout) -%}
    {%- do dbt_delta._drop_leftovers(relation) -%}
    {%- do dbt_delta._finish_build(relation, layout) -%}
{%- endmacro %}

{#
    The SELECT that CREATE TABLE AS reads. Columns take their comments from a temporary view, as the
    statement itself has no place for them. Names what the configuration asks of columns that the
    SELECT does not give.
#}
{% macro _prepare_source(sql, layout) -%}
    {%- if not (layout.partitions or layout.clustering or layout.checks or layout.column_comments) -%}
        {{- return(sql) -}}
    {%- endif -%}
    {%- set columns = dbt_delta._columns_of(sql, layout.checks) -%}
    {%- do dbt_delta._name_layout(layout, columns) -%}
    {%- do dbt_delta._fit_comments(layout, columns | map(attribute='name') | list) -%}
    {%- if layout.format == 'delta' -%}
        {%- set sql = dbt_delta.get_guarded_sql(sql, columns, layout.partitions) -%}
    {%- endif -%}
    {%- if not layout.column_comments -%}{{- return(sql) -}}{%- endif -%}
    {%- set view = dbt_delta._documented_view() -%}
    {%- do run_query(dbt_delta.get_create_view_sql(
        view, sql, columns, {'column_comments': layout.column_comments}, temporary=true
    )) -%}
    {{- return('select * from ' ~ view) -}}
{%- endmacro %}

{# A SELECT that fails for a text that a partition column cannot hold. #}
{% macro get_guarded_sql(sql, columns, partitions) -%}
    {%- set values, texts = [], [] -%}
    {%- for column in columns -%}
        {%- set value = dbt_delta._quoted(column.name) -%}
        {%- if column.name in partitions and column.type == 'string' -%}
            {%- do texts.append(column.name) -%}
            {%- set value = dbt_delta.get_partition_text_sql(value, column.name) ~ ' as ' ~ value -%}
        {%- endif -%}
        {%- do values.append(value) -%}
    {%- endfor -%}
    {{- return('select ' ~ values | join(', ') ~ '\nfrom (\n' ~ sql ~ '\n) as batch\n' if texts else sql) -}}
{%- endmacro %}

{% macro _documented_view() -%}
    {{- return(dbt_delta._quoted(dbt_delta._beside(this, 'tmp').identifier ~ '_documented')) -}}
{%- endmacro %}

{#
    The columns that a SELECT gives, as {name, type}; plans it only. Expressions are planned with it, so
    that what they name is found, or Spark says what is not.
#}
{% macro _columns_of(sql, expressions={}) -%}
    {%- set planned = dbt_delta.get_planned_sql(sql, expressions) -%}
    {%- set columns = adapter.dbt_delta_columns(planned) if adapter.dbt_delta_columns is defined else none -%}
    {%- if columns is none -%}
        {%- set columns = [] -%}
        {%- for row in run_query('describe query ' ~ planned).rows -%}
            {%- do columns.append({'name': row[0], 'type': row[1]}) -%}
        {%- endfor -%}
        {%- if dbt_delta._hides_names(columns) -%}
            {%- set columns = dbt_delta._columns_by_view(planned) -%}
        {%- endif -%}
    {%- endif -%}
    {{- return(columns[:(columns | length) - (expressions | length)]) -}}
{%- endmacro %}

{# A SELECT with expressions on its columns behind these. #}
{% macro get_planned_sql(sql, expressions={}) -%}
select
    batch.*
    {%- for name, expression in expressions.items() %},
    ({{ expression }}) as {{ dbt_delta._quoted('constraint ' ~ name) }}
    {%- endfor %}
from (
{{ sql }}
) as batch
{%- endmacro %}

{# CREATE TABLE AS finds the columns of the layout by their exact names only: those of the SELECT. #}
{% macro _name_layout(layout, columns) -%}
    {%- for config_name, part in {'partition_by': 'partitions', 'liquid_clustered_by': 'clustering'}.items() -%}
        {%- set names = [] -%}
        {%- for name in layout[part] -%}
            {%- set found = dbt_delta._exact_path(columns, name if part == 'partitions' else name.split('.')) -%}
            {%- if found is none -%}
                {%- do dbt_delta._refuse(
                    config_name ~ " names '" ~ name ~ "', which the model does not give. Its columns are "
                    ~ columns | map(attribute='name') | join(', ') ~ '.'
                ) -%}
            {%- endif -%}
            {%- do names.append(found) -%}
        {%- endfor -%}
        {%- do layout.update({part: names}) -%}
    {%- endfor -%}
{%- endmacro %}

{# A column's name, or the path of a field, as the columns spell it; none if it is not there. #}
{% macro _exact_path(columns, path) -%}
    {%- set steps = [path] if path is string else path -%}
    {%- set column = dbt_delta._column(columns, steps[0]) -%}
    {%- if column is none or steps | length == 1 -%}{{- return(column.name if column else none) -}}{%- endif -%}
    {%- if dbt_delta._type_kind(column.type) != 'struct' -%}{{- return(none) -}}{%- endif -%}
    {%- set rest = dbt_delta._exact_path(dbt_delta._struct_fields(column.type), steps[1:]) -%}
    {{- return(column.name ~ '.' ~ rest if rest else none) -}}
{%- endmacro %}

{% macro get_create_table_sql(relation, sql, layout, replace=false) -%}
create{{ ' or replace' if replace }} table {{ dbt_delta._named(relation) }}
using {{ layout.format }}
{%- if layout.partitions %}
partitioned by ({{ dbt_delta._quoted_list(layout.partitions) }})
{%- endif %}
{%- if layout.clustering %}
cluster by ({{ dbt_delta._quoted_paths(layout.clustering) }})
{%- endif %}
{%- if layout.buckets.columns %}
clustered by ({{ dbt_delta._quoted_list(layout.buckets.columns) }}) into {{ layout.buckets.count }} buckets
{%- endif %}
{%- if layout.options %}
options {{ dbt_delta._literal_pairs(layout.options) }}
{%- endif %}
{%- if layout.location %}
location {{ dbt_delta._literal(layout.location) }}
{%- endif %}
{%- if layout.comment %}
comment {{ dbt_delta._literal(layout.comment) }}
{%- endif %}
{%- set properties = dbt_delta._creation_properties(layout) %}
{%- if properties %}
tblproperties {{ dbt_delta._literal_pairs(properties) }}
{%- endif %}
as
{{ sql }}
{%- endmacro %}

{#
    The change feed of a table with column mapping comes by ALTER: Delta refuses a CREATE TABLE AS
    that asks for both (DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION).
#}
{% macro _creation_properties(layout) -%}
    {%- set properties = dict(layout.defaults, **layout.properties) -%}
    {%- for name, expression in layout.checks.items() -%}
        {%- do properties.update({'delta.constraints.' ~ name: expression}) -%}
    {%- endfor -%}
    {%- if properties.get('delta.columnMapping.mode', 'none') != 'none' -%}
        {%- do properties.pop('delta.enableChangeDataFeed', none) -%}
    {%- endif -%}
    {{- return(properties) -}}
{%- endmacro %}

{#
    Whether CREATE OR REPLACE can make this table of what is there: one of the same format that
    keeps versions. Delta refuses partitions for a table that was ever clustered, and another
    location.
#}
{% macro _is_replaceable(existing, layout) -%}
    {%- set was_clustered = dbt_delta._has_property(
        existing.properties, 'delta.feature.clustering', 'supported'
    ) -%}
    {%- set moves = layout.location and not existing.location.rstrip('/').endswith(
        layout.location.split('://')[-1].split('file:')[-1].rstrip('/')
    ) -%}
    {{- return(
        existing.type == 'table'
        and existing.provider == layout.format
        and layout.format in ('delta', 'iceberg')
        and not (was_clustered and layout.partitions)
        and not moves
    ) -}}
{%- endmacro %}

{# A relation of a name of its own in the same schema, for what lives during this run only. #}
{% macro _beside(relation, purpose) -%}
    {%- set own = local_md5(relation.schema ~ ' ' ~ invocation_id)[:10] -%}
    {{- return(api.Relation.create(
        schema=relation.schema,
        identifier=relation.identifier ~ '__dbt_' ~ purpose ~ '_' ~ own,
        type='table'
    )) -}}
{%- endmacro %}

{#
    Puts a finished successor in the place of a relation, then drops that. If the second of the
    two renames fails, the first is taken back. Delta keeps the logs of tables by path in memory, where
    a path now is another table's: the driver forgets them all (VALUES: no executor does it).
#}
{% macro _swap(existing, successor) -%}
    {%- set old = dbt_delta._beside(existing.relation, 'old') -%}
    {%- do run_query(dbt_delta.get_swap_sql(existing, successor, old)) -%}
    {%- do dbt_delta._drop(old, existing.type) -%}
    {%- do adapter.cache_dropped(existing.relation) -%}
    {%- do adapter.cache_added(existing.relation.incorporate(type=successor.type)) -%}
{%- endmacro %}

{% macro get_swap_sql(existing, successor, old) -%}
    {%- set place = dbt_delta._named(existing.relation) -%}
begin
    begin
        declare exit handler for sqlexception
        begin
            alter {{ existing.type }} {{ dbt_delta._named(old) }} rename to {{ place }};
            select raise_error(
                {{ dbt_delta._literal(dbt_delta._named(successor) ~ ' could not take the name ' ~ place
                    ~ '. What stood there is back; the new relation is whole: rename it, or drop it and run again.') }}
            );
        end;
        alter {{ existing.type }} {{ place }} rename to {{ dbt_delta._named(old) }};
        alter {{ successor.type }} {{ dbt_delta._named(successor) }} rename to {{ place }};
    end;
    select java_method('org.apache.spark.sql.delta.DeltaLog', 'clearCache') from values (1);
end
{%- endmacro %}

{#
    Whether a first build was killed: its files lie where the table belongs, and the catalog does not
    know of it. Refuses where they are more than that.
#}
{% macro _is_broken_off(relation) -%}
    {%- set path = dbt_delta._folder_of(relation) -%}
    {%- if path is none -%}{{- return(false) -}}{%- endif -%}
    {%- set problem = dbt_delta._attempt('select 1 from delta.' ~ dbt_delta._quoted(path) ~ ' limit 0').problem -%}
    {%- if problem -%}{{- return('[DELTA_TABLE_NOT_FOUND]' in problem) -}}{%- endif -%}
    {%- set commits = dbt_delta._commits_of('delta.' ~ dbt_delta._quoted(path), limit=2) -%}
    {%- if commits | length != 1 or commits[0].node != model.unique_id -%}
        {%- do dbt_delta._refuse(
            path ~ ' holds a Delta table that the catalog does not know, where ' ~ dbt_delta._named(relation)
            ~ ' belongs. Nothing was changed. If it is that table, register it: create table '
            ~ dbt_delta._named(relation) ~ ' using delta location ' ~ dbt_delta._literal(path)
            ~ '. If not, move the folder away.'
        ) -%}
    {%- endif -%}
    {{- return(true) -}}
{%- endmacro %}

{#
    Where the files of a table lie that the catalog does not know; none where there are no such files.
    On a server, which lists no folders: where they would lie.
#}
{% macro _folder_of(relation) -%}
    {%- set name = relation.identifier | lower -%}
    {%- if dbt_delta._is_session() or adapter.dbt_delta_attempt is not defined -%}
        {{- return(dbt_delta._folders(relation).get(name)) -}}
    {%- endif -%}
    {%- set places = graph.setdefault('dbt_delta_places', {}) -%}
    {%- if relation.schema not in places -%}
        {%- for row in run_query('describe schema ' ~ dbt_delta._quoted(relation.schema)).rows
            if row['info_name'] == 'Location' -%}
            {%- do places.update({relation.schema: row['info_value']}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(places[relation.schema] ~ '/' ~ name) -}}
{%- endmacro %}

{# Path by name of the folders of a relation's schema that are no relation, as the schema was listed. #}
{% macro _folders(relation) -%}
    {{- return(graph.get('dbt_delta_folders', {}).get(relation.schema | lower, {})) -}}
{%- endmacro %}

{# What runs of the model that were killed have left beside it, as the schema was listed. #}
{% macro _drop_leftovers(relation) -%}
    {%- set own = dbt_delta._beside(relation, '').identifier[-10:] -%}
    {%- set start = relation.identifier | lower ~ '__dbt_' -%}
    {%- for name, path in dbt_delta._folders(relation).items() if name[:-10] == start ~ 'tmp_' -%}
        {%- do adapter.dbt_delta_drop_folder(path) -%}
    {%- endfor -%}
    {%- for left in graph.get('dbt_delta_leftovers', {}).get(relation.schema | lower, [])
        if left.identifier[:-14] == start and not left.identifier.endswith(own) -%}
        {%- do dbt_delta._drop(left, left.type) -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _drop(relation, type='table') -%}
    {%- do run_query('drop ' ~ type ~ ' if exists ' ~ dbt_delta._named(relation)) -%}
{%- endmacro %}
