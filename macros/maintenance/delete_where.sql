{#
    Deletes the rows for which a predicate holds, once it is known how many there are. The dry run says
    which files that touches: all without being read, whole partitions, or files that are written anew
    or get a deletion vector.
#}
{% macro delete_where(relation, predicate, dry_run=false) -%}
    {%- if not execute -%}{{- return('') -}}{%- endif -%}
    {%- set relation = dbt_delta._relation_given(relation, 'delete_where') -%}
    {%- set name = dbt_delta._named(relation) -%}
    {%- if not predicate or predicate is not string -%}
        {%- do dbt_delta._refuse(
            "delete_where of " ~ name ~ " has predicate '" ~ predicate ~ "'. Give a condition in SQL; 'true' for all rows."
        ) -%}
    {%- endif -%}
    {%- set existing = dbt_delta._delta_table(relation, 'delete_where') -%}
    {%- if dbt_delta._has_property(existing.properties, 'delta.appendOnly', true) -%}
        {%- do dbt_delta._refuse(
            'delete_where: ' ~ name ~ ' is append-only (delta.appendOnly = true), so that nobody deletes rows. '
            ~ 'Nothing was deleted. If that is to change, set the property to false first.'
        ) -%}
    {%- endif -%}
    {%- set found = run_query(
        'select count(*) as row_count, count(distinct _metadata.file_path) as files from ' ~ name ~ '\nwhere ' ~ predicate
    ).rows[0] -%}
    {%- set rows = found['row_count'] | int -%}
    {%- set columns = dbt_delta._quoted_list(existing.partitions) or '1 as nothing' -%}
    {%- set kind = 'all files leave the table without being read'
        if dbt_delta._succeeds('count(*)', 'select 1 from (select 1 as nothing) where ' ~ predicate)
        else 'whole partitions leave the table without being read'
        if dbt_delta._succeeds('count(*)', 'select 1 from (select ' ~ columns ~ ' from ' ~ name ~ ') where (' ~ predicate ~ ') limit 0')
        else 'the rows are hidden by deletion vectors'
        if dbt_delta._has_property(existing.properties, 'delta.enableDeletionVectors', true)
        else 'the files are written anew without them' -%}
    {%- set line = 'delete_where ' ~ name ~ ' where ' ~ predicate ~ ': ' ~ '{:,}'.format(rows) ~ ' rows in '
        ~ '{:,}'.format(found['files'] | int) ~ ' files' -%}
    {%- if not rows -%}
        {%- do log(line ~ ', nothing to do', info=true) -%}
    {%- elif dry_run -%}
        {%- do log(line ~ ', ' ~ kind ~ ' (dry run)', info=true) -%}
    {%- else -%}
        {%- do run_query(dbt_delta.get_delete_where_sql(relation, predicate)) -%}
        {%- do log(line ~ ', ' ~ kind, info=true) -%}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}

{% macro get_delete_where_sql(relation, predicate) -%}
delete from {{ dbt_delta._named(relation) }}
where {{ predicate }}
{%- endmacro %}
