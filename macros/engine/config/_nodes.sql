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

{#
    Runs its block with more, if anything, in the tag of its commits; see src/dbt_delta/session/tags.py.
    Where connections share a session, because the plugin is off, models would tag each other's.
#}
{% macro _tagging(more) -%}
    {%- set key = 'spark.databricks.delta.commitInfo.userMetadata' -%}
    {%- if not more or (adapter.dbt_delta_plugin is not defined and model) -%}
        {%- do caller() -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set before = run_query('set ' ~ key).rows[0]['value'] -%}
    {%- set tag = fromjson(before, {}) -%}
    {%- set tag = tag if tag is mapping else {} -%}
    {%- set tag = tag or {
        'dbt_invocation_id': invocation_id, 'dbt_project': project_name,
        'dbt_started_at': run_started_at.strftime('%Y-%m-%dT%H:%M:%SZ'),
    } -%}
    {%- do run_query('set ' ~ dbt_delta._quoted(key) ~ '=' ~ dbt_delta._quoted(tojson(dict(tag, **more)))) -%}
    {%- do caller() -%}
    {%- if before.startswith('{') -%}
        {%- do run_query('set ' ~ dbt_delta._quoted(key) ~ '=' ~ dbt_delta._quoted(before)) -%}
    {%- else -%}
        {%- do run_query('reset ' ~ dbt_delta._quoted(key)) -%}
    {%- endif -%}
{%- endmacro %}
