{# The relation of a model, seed or snapshot by the name that ref() takes, or of schema.table. #}
{% macro _relation_named(name, macro) -%}
    {%- set text = name | string -%}
    {%- for node in dbt_delta._table_nodes() if node.name == text -%}
        {{- return(api.Relation.create(schema=node.schema, identifier=node.alias)) -}}
    {%- endfor -%}
    {%- if text.count('.') == 1 -%}
        {%- set parts = dbt_delta._names(text.split('.')) -%}
        {{- return(api.Relation.create(schema=parts[0], identifier=parts[1])) -}}
    {%- endif -%}
    {%- set known = [] -%}
    {%- for node in dbt_delta._table_nodes() -%}{%- do known.append(node.name) -%}{%- endfor -%}
    {%- do dbt_delta._refuse(
        macro ~ ": there is no model, seed or snapshot '" ~ text ~ "'. Give one of "
        ~ known | sort | join(', ') ~ ', or a table as schema.table.'
    ) -%}
{%- endmacro %}

{# Nodes of the project and its packages that dbt makes tables of; those of the project come first. #}
{% macro _table_nodes() -%}
    {%- set own, others = [], [] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type in ('model', 'seed', 'snapshot') and node.config.materialized not in ('view', 'ephemeral') -%}
        {%- do (own if node.package_name == project_name else others).append(node) -%}
    {%- endfor -%}
    {{- return(own + others) -}}
{%- endmacro %}

{# What the catalog has under a name that must be a Delta table. #}
{% macro _delta_table(relation, macro) -%}
    {%- set existing = dbt_delta._existing(relation) -%}
    {%- if existing is none or existing.type == 'view' or existing.provider != 'delta' -%}
        {%- do dbt_delta._refuse(
            macro ~ ': ' ~ dbt_delta._named(relation) ~ ' is '
            ~ ('not in the catalog' if existing is none else 'a view' if existing.type == 'view'
                else 'a ' ~ existing.provider ~ ' table')
            ~ '; only a Delta table has versions. Build it first, or name another target.'
        ) -%}
    {%- endif -%}
    {{- return(existing) -}}
{%- endmacro %}
