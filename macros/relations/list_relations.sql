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
    {%- set relations, leftovers = [], [] -%}
    {%- for row in run_query('show tables in ' ~ schema).rows if not row['isTemporary'] -%}
        {%- set name = row['tableName'] -%}
        {%- if modules.re.search('__dbt_(tmp|new|old)_[0-9a-f]{10}$', name) -%}
            {%- do leftovers.append(api.Relation.create(
                schema=schema_relation.schema, identifier=name, type='view' if name in views else 'table'
            )) -%}
        {%- endif -%}
        {%- do relations.append((
            row['namespace'], name, false, 'Type: VIEW' if name in views else 'Provider: delta'
        )) -%}
    {%- endfor -%}
    {#- The graph is one object for all models of a run. -#}
    {%- do graph.setdefault('dbt_delta_leftovers', {}).update({schema_relation.schema | lower: leftovers}) -%}
    {{- return(relations) -}}
{%- endmacro %}
