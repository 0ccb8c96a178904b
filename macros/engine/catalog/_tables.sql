{# Whether models run in an embedded session and not on a server; `target` does not say. #}
{% macro _is_session() -%}
    {{- return(adapter.config.credentials.method == 'session') -}}
{%- endmacro %}

{# What the catalog holds under a name, as from _existing. The schema may be missing, too. #}
{% macro _entry(relation) -%}
    {{- return(dbt_delta._existing(relation) if relation.schema | lower in dbt_delta._schemas() else none) -}}
{%- endmacro %}

{# What the catalog has under a name that must be a table of the target's format. #}
{% macro _delta_table(relation, macro) -%}
    {%- do dbt_delta._in_format('check_operation')(macro) -%}
    {%- set existing = dbt_delta._entry(relation) -%}
    {%- if existing is none or existing.type == 'view'
        or existing.provider != dbt_delta._target_format() -%}
        {%- do dbt_delta._refuse(
            macro ~ ': ' ~ dbt_delta._named(relation) ~ ' is '
            ~ ('not in the catalog' if existing is none else 'a view' if existing.type == 'view'
                else 'a ' ~ existing.provider ~ ' table')
            ~ '; only ' ~ dbt_delta._in_format('a_table')() ~ ' has versions. Build it first, or use another target.'
        ) -%}
    {%- endif -%}
    {{- return(existing) -}}
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

{# Those of some schemas that the catalog has. #}
{% macro _present(schemas) -%}
    {%- set known, found = dbt_delta._schemas(), [] -%}
    {%- for schema in schemas if schema | lower in known -%}{%- do found.append(schema) -%}{%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{#
    The Delta tables of the catalog, as _maintained returns them. `node` is the selected node that builds the table.
    Tables without a node are here because they may be shallow clones of others; they come from all schemas, or from
    those that the variable dbt_delta_clone_schemas names.
#}
{% macro _catalog_tables(nodes, relations=[]) -%}
    {%- set found, views, wanted, common = {}, [], {}, dbt_delta._thresholds(none) -%}
    {%- for node in nodes -%}{%- do wanted.update({(node.schema | lower, node.alias | lower): node}) -%}{%- endfor -%}
    {%- set own = (nodes + relations) | map(attribute='schema') | map('lower') | list -%}
    {%- set others = var('dbt_delta_clone_schemas', none) -%}
    {%- set others = none if others is none else dbt_delta._names(others) | map('lower') | list -%}
    {%- set schemas = [] -%}
    {%- for schema in dbt_delta._schemas() if others is none or schema in own + others -%}
        {%- do schemas.append(schema) -%}
    {%- endfor -%}
    {%- if others is not none -%}
        {%- do log(
            'dbt_delta_clone_schemas limits the search for clones and views to ' ~ (schemas | join(', ') or 'no schema')
            ~ '; VACUUM does not keep files for those in other schemas.', info=true
        ) -%}
    {%- endif -%}
    {%- for entry in dbt_delta._listing(schemas) -%}
        {%- if entry.type == 'view' -%}
            {%- do views.append(entry) -%}
        {%- elif entry.provider == 'delta' and entry.location -%}
            {%- set key = (entry.schema | lower, entry.name | lower) -%}
            {%- do found.update({key: dbt_delta._maintained(
                found | length, api.Relation.create(schema=entry.schema, identifier=entry.name, type='table'),
                entry.location, wanted.get(key), common
            )}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set pins, tables = {}, [] -%}
    {%- for view in views -%}
        {%- for pin in dbt_delta._view_pins(view, found) -%}
            {%- do pins.setdefault(pin.table, []).append(pin) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for table in found.values() -%}
        {%- do tables.append(dict(table, pins=pins.get(table.id, []))) -%}
    {%- endfor -%}
    {{- return(tables) -}}
{%- endmacro %}

{# The Delta tables of the selected nodes with their states. #}
{% macro _selected_tables(select, state, macro) -%}
    {%- set nodes = [] -%}
    {%- for node in dbt_delta._selected_nodes(select, state, macro) if node.config.materialized != 'view' -%}
        {%- do nodes.append(node) -%}
    {%- endfor -%}
    {%- set tables = dbt_delta._read_states(dbt_delta._catalog_tables(nodes)) -%}
    {{- return(tables | selectattr('node') | list) -}}
{%- endmacro %}

{# The comment of a schema; empty without one. #}
{% macro _schema_comment(schema) -%}
    {%- for row in run_query('describe schema ' ~ dbt_delta._quoted(schema)).rows if row[0] == 'Comment' -%}
        {{- return(row[1] or '') -}}
    {%- endfor -%}
    {{- return('') -}}
{%- endmacro %}
