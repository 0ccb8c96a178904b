{#
    Counts the rows that meet a predicate and deletes them. The dry run says how: all files or whole partitions are
    removed without being read, files are rewritten, or rows are hidden by deletion vectors.
#}
{% macro delete_where(relation, predicate, dry_run=false) -%}
    {%- do dbt_delta._in_format('check_operation')('delete_where') -%}
    {%- if not execute -%}{{- return('') -}}{%- endif -%}
    {%- set relation = dbt_delta._relation_given(relation, 'delete_where') -%}
    {%- set name = dbt_delta._named(relation) -%}
    {%- set what = 'delete_where of ' ~ name -%}
    {%- set predicate = dbt_delta._predicate(predicate, what) -%}
    {%- set existing = dbt_delta._changeable_table(relation, 'delete_where') -%}
    {%- do dbt_delta._check_expression(name, predicate, predicate, what ~ ' has predicate') -%}
    {%- set found = dbt_delta._ask(
        'select count(*) as row_count, count(distinct _metadata.file_path) as files from ' ~ name ~ '\nwhere ' ~ predicate
    ).rows[0] -%}
    {%- set rows = found['row_count'] | int -%}
    {%- set columns = dbt_delta._quoted_list(existing.partitions) or '1 as nothing' -%}
    {%- set kind = 'all files leave the table without being read'
        if dbt_delta._succeeds('count(*)', 'select 1 from (select 1 as nothing) where ' ~ predicate)
        else 'whole partitions leave the table without being read'
        if dbt_delta._succeeds('count(*)', 'select 1 from (select ' ~ columns ~ ' from ' ~ name ~ ') where (' ~ predicate ~ ') limit 0')
        else 'the rows are hidden by deletion vectors'
        if dbt_delta._has_feature(existing.properties, 'deletion_vectors')
        else 'the files are rewritten without them' -%}
    {%- set line = 'delete_where ' ~ name ~ ' where ' ~ predicate | trim ~ ': ' ~ '{:,}'.format(rows) ~ ' rows in '
        ~ '{:,}'.format(found['files'] | int) ~ ' files' -%}
    {%- if not rows -%}
        {%- do log(line ~ ', nothing to do', info=true) -%}
    {%- elif dry_run -%}
        {%- do log(line ~ ', ' ~ kind ~ ' (dry run)', info=true) -%}
    {%- else -%}
        {%- do dbt_delta._execute(dbt_delta.get_delete_where_sql(relation, predicate)) -%}
        {%- do log(line ~ ', ' ~ kind, info=true) -%}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}

{#
    A predicate that can be part of a statement, without a semicolon and a comment at its end. Delta allows no
    subquery in the WHERE of a DELETE or an UPDATE.
#}
{% macro _predicate(given, what) -%}
    {%- set predicate = dbt_delta._inner_sql(given) if given is string else '' -%}
    {%- if not predicate | trim -%}
        {%- do dbt_delta._refuse(
            what ~ " has predicate '" ~ given ~ "'. Use a condition in SQL, or 'true' for all rows."
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._refuse_subquery(predicate, what ~ ' has predicate') -%}
    {{- return(predicate) -}}
{%- endmacro %}

{% macro _refuse_subquery(expression, what) -%}
    {%- if dbt_delta._has_subquery(expression) -%}
        {%- do dbt_delta._refuse(
            what ~ " '" ~ expression | trim ~ "', which contains a subquery. Delta allows none there. Nothing was "
            ~ 'changed. Write values, as in id in (1, 2), or use MERGE: merge into .. using (<the subquery>) as s on .. '
            ~ 'when matched then delete, or update.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# A Delta table whose rows may be deleted and updated. #}
{% macro _changeable_table(relation, macro) -%}
    {%- set existing = dbt_delta._delta_table(relation, macro) -%}
    {%- if dbt_delta._has_feature(existing.properties, 'append_only') -%}
        {%- do dbt_delta._refuse(
            macro ~ ': ' ~ dbt_delta._named(relation) ~ ' is append-only (' ~ dbt_delta._feature_property('append_only').key
            ~ ' = true): its rows cannot change. Nothing was changed. To change rows, set the property to false first.'
        ) -%}
    {%- endif -%}
    {{- return(existing) -}}
{%- endmacro %}

{% macro get_delete_where_sql(relation, predicate) -%}
delete from {{ dbt_delta._named(relation) }}
where {{ predicate }}
{%- endmacro %}
