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

{# Nodes of the project and its packages that dbt makes tables of, or views; those of the project come first. #}
{% macro _table_nodes(views=false) -%}
    {%- set own, others = [], [] -%}
    {%- set not_shown = ['ephemeral'] if views else ['view', 'ephemeral'] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type in ('model', 'seed', 'snapshot') and node.config.materialized not in not_shown -%}
        {%- do (own if node.package_name == project_name else others).append(node) -%}
    {%- endfor -%}
    {{- return(own + others) -}}
{%- endmacro %}

{# Nodes as dbt's --select takes them, by name; all without a selection. #}
{% macro _selected_nodes(selection, state, macro) -%}
    {%- set nodes = dbt_delta._table_nodes(views=true) -%}
    {%- if selection -%}
        {%- if adapter.dbt_delta_select is not defined -%}
            {%- do dbt_delta._refuse(
                macro ~ ' has select, which needs the plugin of dbt_delta\'s Python package: install it, or leave select out.'
            ) -%}
        {%- endif -%}
        {%- set ids = adapter.dbt_delta_select(selection | string, state) -%}
        {%- set chosen = [] -%}
        {%- for node in nodes if node.unique_id in ids -%}{%- do chosen.append(node) -%}{%- endfor -%}
        {%- if not chosen -%}
            {%- do dbt_delta._refuse(macro ~ ": select '" ~ selection ~ "' takes no model, seed or snapshot.") -%}
        {%- endif -%}
        {%- set nodes = chosen -%}
    {%- endif -%}
    {{- return(nodes | sort(attribute='name')) -}}
{%- endmacro %}
