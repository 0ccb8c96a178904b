{#
    Names and kinds of a schema's relations in two statements that open no table. dbt-spark's `show table extended`
    opens every table and fails if one is dropped meanwhile; dbt then believes that the schema is empty. Whether a
    table is a Delta table is asked when it is built. Folders that belong to no relation, and the leftovers of killed
    runs, are remembered.
#}
{% macro spark__list_relations_without_caching(schema_relation) -%}
    {%- set schema = dbt_delta._quoted(schema_relation.schema) -%}
    {%- set views = [] -%}
    {%- for row in run_query('show views in ' ~ schema).rows if not row['isTemporary'] -%}
        {%- do views.append(row['viewName']) -%}
    {%- endfor -%}
    {%- set relations, leftovers = [], [] -%}
    {%- for row in run_query('show tables in ' ~ schema).rows if not row['isTemporary'] -%}
        {%- set name = row['tableName'] -%}
        {%- if modules.re.search('__dbt_(tmp|new|old)_[0-9a-f]{10}$', name) -%}
            {%- do leftovers.append(api.Relation.create(
                schema=schema_relation.schema, identifier=name, type='view' if name in views else 'table'
            )) -%}
        {%- endif -%}
        {%- do relations.append((
            row['namespace'], name, false, 'Type: VIEW' if name in views else 'Provider: ' ~ dbt_delta._target_format()
        )) -%}
    {%- endfor -%}
    {#- Other catalogs list views apart. -#}
    {%- for name in views if name not in relations | map(attribute=1) -%}
        {%- do relations.append((schema_relation.schema, name, false, 'Type: VIEW')) -%}
    {%- endfor -%}
    {%- set folders = {} -%}
    {%- if adapter.dbt_delta_folders is defined -%}
        {%- set known = relations | map(attribute=1) | list -%}
        {%- do folders.update(adapter.dbt_delta_folders(schema_relation.schema, known)) -%}
    {%- endif -%}
    {%- do dbt_delta._memory('leftovers').update({schema_relation.schema | lower: leftovers}) -%}
    {%- do dbt_delta._memory('folders').update({schema_relation.schema | lower: folders}) -%}
    {{- return(relations) -}}
{%- endmacro %}

{# dbt-spark renders the relation as in FROM, where --empty makes it a subquery. #}
{% macro spark__get_columns_in_relation_raw(relation) -%}
    {{- return(run_query('describe extended ' ~ relation.render())) -}}
{%- endmacro %}

{# What a test stores, and tables of other formats: without the DEFAULTs of the tables that the SELECT reads. #}
{% macro spark__create_table_as(temporary, relation, compiled_code, language='sql') -%}
    {%- if language == 'sql' and not temporary -%}
        {%- set sql = dbt_delta._inner_sql(compiled_code) -%}
        {%- set columns = dbt_delta._columns_of(sql, stored=true) -%}
        {%- set compiled_code = dbt_delta.get_guarded_sql(sql, columns) -%}
    {%- endif -%}
    {{- return(dbt.spark__create_table_as(temporary, relation, compiled_code, language)) -}}
{%- endmacro %}

{% macro spark__alter_column_type(relation, column_name, new_column_type) -%}
    {%- do run_query(
        'alter table ' ~ relation.render() ~ ' alter column ' ~ dbt_delta._quoted(column_name)
        ~ ' type ' ~ new_column_type
    ) -%}
{%- endmacro %}
