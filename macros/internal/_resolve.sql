{# Whether models run in an embedded session, no server; `target` does not tell the method. #}
{% macro _is_session() -%}
    {{- return(adapter.config.credentials.method == 'session') -}}
{%- endmacro %}

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

{# What the catalog has under a name of which the schema may not be there either; see _existing. #}
{% macro _entry(relation) -%}
    {{- return(dbt_delta._existing(relation) if relation.schema | lower in dbt_delta._schemas() else none) -}}
{%- endmacro %}

{# What the catalog has under a name that must be a Delta table. #}
{% macro _delta_table(relation, macro) -%}
    {%- set existing = dbt_delta._entry(relation) -%}
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

{# Whether the catalog, with these schemas, has a relation. #}
{% macro _is_there(relation, schemas) -%}
    {{- return(relation.schema | lower in schemas and dbt_delta._is_in_catalog(relation)) -}}
{%- endmacro %}

{# The names of the catalog's schemas, in lower case. #}
{% macro _schemas() -%}
    {%- set names = [] -%}
    {%- for row in run_query('show schemas').rows -%}{%- do names.append(row[0] | lower) -%}{%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}
