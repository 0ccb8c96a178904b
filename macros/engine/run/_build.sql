{#
    Builds the model's table from a SELECT, in one commit, whatever relation has its name. If possible, a table is
    replaced by a new version of itself. Any other relation stays until its successor is complete, and is then swapped
    by two renames.
#}
{% macro _build_table(relation, sql, existing, layout) -%}
    {%- set in_place = dbt_delta._is_replaceable(existing, layout) if existing is not none
        else layout.format == 'delta' and not layout.location and dbt_delta._is_broken_off(relation) -%}
    {%- set beside = existing is not none and not in_place -%}
    {%- if beside or existing is none -%}{%- do dbt_delta._check_readers(relation, existing) -%}{%- endif -%}
    {%- set successor = dbt_delta._beside(relation, 'new') if beside else relation -%}
    {%- if existing is not none and existing.type == 'table' and existing.provider == layout.format -%}
        {%- set layout = dict(layout, properties=dbt_delta._handed_on(existing, layout.properties)) -%}
    {%- endif -%}
    {%- set columns = dbt_delta._columns_of(sql, layout.checks, stored=true) -%}
    {%- do dbt_delta._in_format('check_columns')(columns, relation.identifier) -%}
    {%- set layout = dbt_delta._fit_comments(
        dbt_delta._name_layout(layout, columns), columns | map(attribute='name') | list
    ) -%}
    {%- set sql = dbt_delta._prepare_source(sql, columns, layout) -%}
    {%- set replaced = existing if in_place else none -%}
    {%- set build = dbt_delta._in_format('build_sql')(successor, sql, columns, layout, in_place, replaced) -%}
    {%- call dbt_delta._tagging(dict(dbt_delta._replaced_tag(existing) if beside else {}, **layout.tag)) -%}
        {%- do dbt_delta._main(build.sql) -%}
    {%- endcall -%}
    {%- do dbt_delta._check_lost(existing, build.lost_sql) -%}
    {%- for statement in build.after -%}{%- do run_query(statement) -%}{%- endfor -%}
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

{# Fails if the replacement of a table has undone a commit of another writer. #}
{% macro _check_lost(existing, lost_sql) -%}
    {%- if lost_sql and run_query(lost_sql).rows -%}
        {%- do dbt_delta._refuse(
            'Another writer committed to ' ~ dbt_delta._named(existing.relation) ~ ' while this run replaced it, and that '
            ~ 'commit is gone from the table. Its metadata file is still in ' ~ existing.location ~ '/metadata, with a '
            ~ 'number that the table does not list. Run the other writer again.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    The SELECT that CREATE TABLE AS reads. The comments of columns come from a temporary view, because the statement
    cannot set them.
#}
{% macro _prepare_source(sql, columns, layout) -%}
    {%- set partitions = dbt_delta._in_format('text_partitions')(layout.partitions) -%}
    {%- set sql = dbt_delta.get_guarded_sql(sql, columns, partitions) -%}
    {%- set sql = dbt_delta._in_format('built_sql')(sql, columns, layout) -%}
    {%- if not layout.column_comments -%}{{- return(sql) -}}{%- endif -%}
    {%- set view = dbt_delta._documented_view() -%}
    {%- do run_query(dbt_delta.get_create_view_sql(
        view, sql, columns, {'column_comments': layout.column_comments}, temporary=true
    )) -%}
    {{- return('select * from ' ~ view) -}}
{%- endmacro %}

{# Sets what CREATE TABLE AS cannot set in a new table. #}
{% macro _finish_build(relation, layout) -%}
    {%- set feed = layout.properties.get('delta.enableChangeDataFeed') -%}
    {%- if feed is not none and 'delta.enableChangeDataFeed' not in dbt_delta._creation_properties(layout) -%}
        {%- do run_query(dbt_delta.get_set_properties_sql(relation, {'delta.enableChangeDataFeed': feed})) -%}
    {%- endif -%}
{%- endmacro %}

{# The tag of a successor's first commit: what it replaces in a swap, which no undo can restore. #}
{% macro _replaced_tag(existing) -%}
    {{- return({} if existing is none else {
        'dbt_replaced': 'view' if existing.type == 'view' else existing.provider ~ ' table'
    }) -}}
{%- endmacro %}

{#
    Whether a first build was killed: its files are in the table's folder, and the catalog does not have the table.
    Refuses if the folder has more than one commit.
#}
{% macro _is_broken_off(relation) -%}
    {%- set path = dbt_delta._folder_of(relation) -%}
    {%- if path is none -%}{{- return(false) -}}{%- endif -%}
    {%- set problem = dbt_delta._attempt('select 1 from delta.' ~ dbt_delta._quoted(path) ~ ' limit 0').problem -%}
    {%- if problem -%}{{- return('[DELTA_TABLE_NOT_FOUND]' in problem) -}}{%- endif -%}
    {%- set commits = dbt_delta._commits_of('delta.' ~ dbt_delta._quoted(path), limit=2) -%}
    {%- if commits | length != 1 or commits[0].node != model.unique_id -%}
        {%- do dbt_delta._refuse(
            'The folder of ' ~ dbt_delta._named(relation) ~ ', ' ~ path ~ ', holds a Delta table that is not in the '
            ~ 'catalog. Nothing was changed. If it is this table, register it: create table '
            ~ dbt_delta._named(relation) ~ ' using delta location ' ~ dbt_delta._literal(path)
            ~ '. If not, move the folder away.'
        ) -%}
    {%- endif -%}
    {{- return(true) -}}
{%- endmacro %}
