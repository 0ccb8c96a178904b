{#
    The options of a write that replaces rows: it fails if another writer has committed since the run looked at the table.
    Iceberg itself would replace those rows, too, and say nothing.
#}
{% macro _iceberg__lock(table, more={}) -%}
    {%- set options = dict(more, **{'isolation-level': 'serializable'}) -%}
    {%- if table.snapshot != 'none' -%}
        {#- Without it Iceberg looks at all commits, of which a table without snapshots had none. -#}
        {%- do options.update({'validate-from-snapshot-id': table.snapshot}) -%}
    {%- endif -%}
    {{- return(' with ' ~ dbt_delta._literal_pairs(options)) -}}
{%- endmacro %}

{#
    All rows of a table by those of a SELECT with its columns in their order; of a batch with all columns that the table
    will have. INSERT OVERWRITE would depend on spark.sql.sources.partitionOverwriteMode. A commit says `is_new` if none of
    the rows are those of the table, written again; see _iceberg__history_sql.
#}
{% macro _iceberg__overwrite_all_sql(table, sql, batch=none, is_new=false) -%}
{%- set more = {'snapshot-property.dbt-is-new': 'true'} if is_new else {} -%}
insert into {{ table.name }}{{ dbt_delta._iceberg__lock(table, more) }} replace where true
{{ sql if batch is none else dbt_delta._iceberg__placed_sql(table, batch, sql) }}
{%- endmacro %}

{# The same of a SELECT with the table's columns in any order. #}
{% macro _iceberg__overwrite_by_name_sql(table, sql) -%}
    {{- return(dbt_delta._iceberg__overwrite_all_sql(
        table, 'select ' ~ dbt_delta._quoted_list(table.columns | map(attribute='name')) ~ '\nfrom (\n' ~ sql ~ '\n)'
    )) -}}
{%- endmacro %}

{# Rows of a batch with NULL for the columns that the table loses only after this write: it takes them by position. #}
{% macro _iceberg__placed_sql(table, batch, sql) -%}
    {%- set columns, dropped = [], [] -%}
    {%- for column in table.columns -%}
        {%- do columns.append(dbt_delta._quoted(column.name)) -%}
        {%- if dbt_delta._column(batch.target_columns, column.name) is none -%}
            {%- do dropped.append(column.name) -%}
            {%- do columns.append('cast(null as ' ~ column.type ~ ') as ' ~ columns.pop()) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not dropped -%}{{- return(sql) -}}{%- endif -%}
    {%- for column in batch.target_columns if dbt_delta._column(table.columns, column.name) is none -%}
        {%- do columns.append(dbt_delta._quoted(column.name)) -%}
    {%- endfor -%}
    {{- return('select ' ~ columns | join(', ') ~ '\nfrom (\n' ~ sql ~ '\n)') -}}
{%- endmacro %}

{#
    All rows, or the partitions that have rows in the SELECT. Iceberg replaces files by the partitions of today: of files
    that someone has divided otherwise before, the rows to keep are written anew.
#}
{% macro _iceberg__overwrite_sql(table, batch) -%}
{%- if table.partitions and table.has_old_partitions -%}
    {%- set rows = dbt_delta._iceberg__checked_sql(table, 'select * from ' ~ batch.from, batch) -%}
    {{ dbt_delta._iceberg__overwrite_all_sql(table, dbt_delta._with_kept_rows_sql(
        dict(table, name=table.name ~ ' as __dbt_old'), dict(batch, **{'from': '(\n' ~ rows ~ '\n)'}),
        dbt_delta._iceberg__replaced_partitions(table, batch, '__dbt_old')[0]
    ), batch) }}
{%- elif table.partitions -%}
insert overwrite table {{ table.name }}{{ dbt_delta._iceberg__lock(table, {'overwrite-mode': 'dynamic'}) }} by name
{{ dbt_delta._iceberg__checked_sql(table, dbt_delta._select_batch(batch), batch) }}
{%- else -%}
    {{ dbt_delta._iceberg__overwrite_all_sql(table, dbt_delta._iceberg__checked_sql(
        table, 'select\n    ' ~ dbt_delta._all_columns(batch, casts=true) | join(',\n    ') ~ '\nfrom ' ~ batch.from
    ), batch, is_new=true) }}
{%- endif -%}
{%- endmacro %}

{#
    The rows that meet a predicate, by those of the batch, in one MERGE: of an overwrite Iceberg refuses a predicate that
    divides a file. The one row that deletes matches each row that meets the predicate; the names of the batch differ from
    the table's, so the predicate means the table. A row that does not meet it fails the write.
#}
{% macro _iceberg__replace_where_sql(table, batch, settings) -%}
{%- set predicate = dbt_delta._all_of(settings.predicates) -%}
{%- if dbt_delta._replaces_by_subquery(settings) -%}
    {#- ON takes no subquery, so the rows to keep are written anew. -#}
    {%- set rows = dbt_delta._iceberg__checked_sql(table, 'select * from ' ~ batch.from, batch) -%}
    {{- return(dbt_delta._iceberg__overwrite_all_sql(
        table, dbt_delta._with_kept_rows_sql(table, dict(batch, **{'from': '(\n' ~ rows ~ '\n)'}), predicate), batch
    )) -}}
{%- endif -%}
{%- set table = dict(table, checks=dict(table.checks, **{'incremental_predicates': predicate})) -%}
{%- set names, nulls, source, values = [], [], [], [] -%}
{%- for column in batch.columns -%}
    {%- set name = dbt_delta._source_name(column.name) -%}
    {%- do names.append(dbt_delta._quoted(column.name)) -%}
    {%- do nulls.append('null as ' ~ name) -%}
    {%- do source.append(dbt_delta._value(column) ~ ' as ' ~ name) -%}
    {%- do values.append('source.' ~ name) -%}
{%- endfor -%}
merge into {{ table.name }}
using (
    select
        true as __dbt_delete,
        {{ nulls | join(',\n        ') }},
        null as __dbt_broken
    union all
    select
        null as __dbt_delete,
        {{ source | join(',\n        ') }},
        __dbt_broken
    from {{ dbt_delta._iceberg__checked_source(table, batch, batch.from) }}
) as source
on
    source.__dbt_delete = ({{ predicate }})
    and ({{ predicate }})
when matched then delete
when not matched and source.__dbt_delete is null then
    insert ({{ names | join(', ') }})
    values ({{ dbt_delta._iceberg__checked_values(table, values, 'source') | join(', ') }})
{%- endmacro %}

{#
    A clause that changes nothing: without one on matched rows Iceberg lets two writers insert the same new key. None if
    there is one.
#}
{% macro _iceberg__guard_clause(settings, changes_matched) -%}
    {{- return('when matched and false then delete' if settings.unique_key and not changes_matched else none) -}}
{%- endmacro %}

{#
    The settings of an append that two runs must not both make. Iceberg lets each append through, and a guarded MERGE only
    if nobody has committed since it read the table; it then runs again.
#}
{% macro _iceberg__once_settings(settings, keys) -%}
    {{- return(dict(
        settings, strategy='merge', unique_key=keys, skip_matched=true, skip_unchanged=false, predicates=[],
    )) -}}
{%- endmacro %}

{% macro _iceberg__marker(table, batch, settings) -%}{{- return(none) -}}{%- endmacro %}
