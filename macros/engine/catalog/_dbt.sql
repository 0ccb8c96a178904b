{#
    The tables and views of a schema, {namespace, name, type}, in two statements that open no table. dbt-spark's `show
    table extended` opens every table and fails if one is dropped meanwhile; dbt then believes that the schema is empty.
#}
{% macro _relations_of(schema) -%}
    {%- set views, found = [], [] -%}
    {%- for row in run_query('show views in ' ~ dbt_delta._quoted(schema)).rows if not row['isTemporary'] -%}
        {%- do views.append(row['viewName']) -%}
    {%- endfor -%}
    {%- for row in run_query('show tables in ' ~ dbt_delta._quoted(schema)).rows if not row['isTemporary'] -%}
        {%- set name = row['tableName'] -%}
        {%- do found.append({
            'namespace': row['namespace'], 'name': name, 'type': 'view' if name in views else 'table',
        }) -%}
    {%- endfor -%}
    {#- Other catalogs list views apart. -#}
    {%- for name in views if name not in found | map(attribute='name') -%}
        {%- do found.append({'namespace': schema, 'name': name, 'type': 'view'}) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{#
    For dbt's cache. Whether a table is a Delta table is asked when it is built. Folders that belong to no relation, and
    the leftovers of killed runs, are remembered.
#}
{% macro spark__list_relations_without_caching(schema_relation) -%}
    {%- set relations, leftovers = [], [] -%}
    {%- for one in dbt_delta._relations_of(schema_relation.schema) -%}
        {%- if modules.re.search('__dbt_(tmp|new|old)_[0-9a-f]{10}$', one.name) -%}
            {%- do leftovers.append(api.Relation.create(
                schema=schema_relation.schema, identifier=one.name, type=one.type
            )) -%}
        {%- endif -%}
        {%- do relations.append((
            one.namespace, one.name, false,
            'Type: VIEW' if one.type == 'view' else 'Provider: ' ~ dbt_delta._target_format()
        )) -%}
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

{# What dbt drops itself, such as the stored rows of a test; as _drop does. #}
{% macro spark__drop_relation(relation) -%}
    {%- call statement('drop_relation', auto_begin=false) -%}
        {{ dbt_delta._in_format('drop_sql')(relation.render(), relation.type) }}
    {%- endcall -%}
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
