{#
    The empty schemas in which a pull request is built: the target's own, and those that dbt derives from it.
    Left-over ones of an earlier build of it are dropped first.
#}
{% macro create_ci_schemas(production) -%}
    {%- do dbt_delta._in_format('check_operation')('create_ci_schemas') -%}
    {%- set schemas = dbt_delta._ci_schemas(production, 'create_ci_schemas') -%}
    {%- for schema in dbt_delta._existing_ci_schemas(schemas, 'create_ci_schemas') -%}
        {%- do dbt_delta._execute(dbt_delta.get_drop_ci_schema_sql(schema)) -%}
    {%- endfor -%}
    {%- for schema in schemas -%}
        {%- do dbt_delta._execute(dbt_delta.get_create_ci_schema_sql(schema)) -%}
        {%- do log('create_ci_schemas: created ' ~ schema, info=true) -%}
    {%- endfor -%}
{%- endmacro %}

{% macro get_create_ci_schema_sql(schema) -%}
    create schema {{ dbt_delta._quoted(schema) }} comment {{ dbt_delta._literal(dbt_delta._ci_mark()) }}
{%- endmacro %}

{# What tells a schema of a pull request from all others: its comment. #}
{% macro _ci_mark() -%}
    {{- return('Created by dbt_delta for a pull request. It may be dropped at any time.') -}}
{%- endmacro %}

{#
    The schemas of this target, its own first. Refused is what a pull request would build, or write,
    outside of them.
#}
{% macro _ci_schemas(production, macro) -%}
    {%- set own, schemas = target.schema | lower, [target.schema | lower] -%}
    {%- if own == production | lower -%}
        {%- do dbt_delta._refuse(
            macro ~ ": the target's schema " ~ target.schema ~ ' is production. Give the pull request a schema of its '
            ~ 'own, such as DBT_SCHEMA=ci_42.'
        ) -%}
    {%- endif -%}
    {%- for node in graph.nodes.values() if node.schema and dbt_delta._is_persisted(node) -%}
        {%- set schema = node.schema | lower -%}
        {%- if schema != own and not schema.startswith(own ~ '_') -%}
            {%- do dbt_delta._refuse(
                macro ~ ': ' ~ node.unique_id ~ ' is built in schema ' ~ node.schema ~ ', and a pull request may only '
                ~ 'write to ' ~ own ~ ' and schemas named ' ~ own ~ '_..: let generate_schema_name begin with target.schema.'
            ) -%}
        {%- elif node.config.get('location_root') and not node.config.get('include_full_name_in_path') -%}
            {%- do dbt_delta._refuse(
                macro ~ ': ' ~ node.unique_id ~ ' has location_root, where production has its files under the same name. '
                ~ 'Set include_full_name_in_path: true, or another location_root for this target.'
            ) -%}
        {%- elif schema not in schemas -%}
            {%- do schemas.append(schema) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(schemas) -}}
{%- endmacro %}

{# Whether dbt makes a table or a view of a node. #}
{% macro _is_persisted(node) -%}
    {{- return(
        node.config.store_failures | default(false, true) if node.resource_type == 'test'
        else node.resource_type in ('model', 'seed', 'snapshot') and node.config.materialized != 'ephemeral'
    ) -}}
{%- endmacro %}
