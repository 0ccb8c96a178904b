{#
    Names and kinds of a schema's relations in two statements that look no table up: dbt-spark's
    `show table extended` reads every one of them, and fails when one is dropped meanwhile, after
    which dbt believes that the schema is empty. Whether a table is a Delta table is asked when it
    is built.
#}
{% macro spark__list_relations_without_caching(schema_relation) -%}
    {%- set schema = dbt_delta._quoted(schema_relation.schema) -%}
    {%- set views = [] -%}
    {%- for row in run_query('show views in ' ~ schema).rows if not row['isTemporary'] -%}
        {%- do views.append(row['viewName']) -%}
    {%- endfor -%}
    {%- set relations = [] -%}
    {%- for row in run_query('show tables in ' ~ schema).rows if not row['isTemporary'] -%}
        {%- set name = row['tableName'] -%}
        {%- do relations.append((
            row['namespace'], name, false, 'Type: VIEW' if name in views else 'Provider: delta'
        )) -%}
    {%- endfor -%}
    {{- return(relations) -}}
{%- endmacro %}
