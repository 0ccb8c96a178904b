{# The relation of a model, seed or snapshot by its name as in ref(), or of schema.table. #}
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
        macro ~ ": there is no model, seed or snapshot '" ~ text ~ "'. Use one of "
        ~ known | sort | join(', ') ~ ', or a table as schema.table.'
    ) -%}
{%- endmacro %}

{# Nodes that dbt builds as tables, or as views, too: those of the project first, then those of its packages. #}
{% macro _table_nodes(views=false) -%}
    {%- set own, others = [], [] -%}
    {%- set not_shown = ['ephemeral'] if views else ['view', 'ephemeral'] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type in ('model', 'seed', 'snapshot') and node.config.materialized not in not_shown -%}
        {%- do (own if node.package_name == project_name else others).append(node) -%}
    {%- endfor -%}
    {{- return(own + others) -}}
{%- endmacro %}

{# The nodes that dbt's --select would select, by name; without a selection all. #}
{% macro _selected_nodes(selection, state, macro) -%}
    {%- set nodes = dbt_delta._table_nodes(views=true) -%}
    {%- if selection -%}
        {%- if adapter.dbt_delta_select is not defined -%}
            {%- do dbt_delta._refuse(
                macro ~ ': select needs the plugin of the Python package dbt_delta. Install it, or remove select.'
            ) -%}
        {%- endif -%}
        {%- set ids = adapter.dbt_delta_select(selection | string, state) -%}
        {%- set chosen = [] -%}
        {%- for node in nodes if node.unique_id in ids -%}{%- do chosen.append(node) -%}{%- endfor -%}
        {%- if not chosen -%}
            {%- do dbt_delta._refuse(macro ~ ": select '" ~ selection ~ "' selects no model, seed or snapshot.") -%}
        {%- endif -%}
        {%- set nodes = chosen -%}
    {%- endif -%}
    {{- return(nodes | sort(attribute='name')) -}}
{%- endmacro %}
