{#
    What the variable dbt_delta_publish asks for, none where this run publishes nothing: {schema, unit, by, nodes}. `by`
    is the project and where it builds; `nodes` are those that readers see, by the names that they see.
#}
{% macro _publish_settings() -%}
    {%- set settings = dbt_delta._publish_given() -%}
    {{- return(none if settings is none or env_var('DBT_DELTA_PUBLISH', 'always') == 'never' else settings) -}}
{%- endmacro %}

{# The same, also of a run that DBT_DELTA_PUBLISH lets publish nothing. #}
{% macro _publish_given() -%}
    {%- set given = var('dbt_delta_publish', none) -%}
    {%- if not given -%}{{- return(none) -}}{%- endif -%}
    {%- set known = dbt_delta._memory('publish') -%}
    {%- if 'settings' not in known -%}
        {%- do known.update({'settings': dbt_delta._settings_to_publish(given)}) -%}
    {%- endif -%}
    {{- return(known.settings) -}}
{%- endmacro %}

{# The schema may be Jinja; where it renders to nothing, nothing is published. #}
{% macro _settings_to_publish(given) -%}
    {%- do dbt_delta._check_choice(
        'The variable DBT_DELTA_PUBLISH of the environment', env_var('DBT_DELTA_PUBLISH', 'always'),
        ['always', 'never']
    ) -%}
    {%- set text = given.get('schema') if given is mapping else none -%}
    {%- set is_jinja = text is string and '{' in text -%}
    {%- set rendered = render(text) | trim if is_jinja else none -%}
    {%- if is_jinja and rendered | lower in ('', 'none') -%}{{- return(none) -}}{%- endif -%}
    {%- set given = dict(given, schema=rendered) if is_jinja else given -%}
    {%- do dbt_delta._check_publish(given) -%}
    {%- if target.name not in dbt_delta._names(given.get('targets', target.name)) -%}{{- return(none) -}}{%- endif -%}
    {%- do dbt_delta._in_format('check_operation')('dbt_delta_publish') -%}
    {{- return({
        'schema': given.schema, 'unit': given.get('unit', 'build'), 'nodes': dbt_delta._published_nodes(given),
        'by': 'project ' ~ project_name ~ ' in schema ' ~ target.schema | lower,
    }) -}}
{%- endmacro %}

{% macro _check_publish(given) -%}
    {%- set example = ' As in: dbt_delta_publish: {schema: analytics, select: marts, unit: build}.' -%}
    {%- if given is not mapping -%}
        {%- do dbt_delta._refuse("The variable dbt_delta_publish is '" ~ given ~ "', no mapping." ~ example) -%}
    {%- endif -%}
    {%- for key in given if key not in ('schema', 'select', 'unit', 'targets') -%}
        {%- do dbt_delta._refuse(
            "The variable dbt_delta_publish has '" ~ key ~ "'. It takes schema, select, unit and targets." ~ example
        ) -%}
    {%- endfor -%}
    {%- set schema, unit = given.get('schema'), given.get('unit', 'build') -%}
    {%- if schema is not string or not schema.strip() -%}
        {%- do dbt_delta._refuse(
            'The variable dbt_delta_publish has no schema: the one in which readers find the views.' ~ example
        ) -%}
    {%- elif schema | lower == target.schema | lower -%}
        {%- do dbt_delta._refuse(
            "The variable dbt_delta_publish has schema '" ~ schema ~ "', in which target " ~ target.name
            ~ ' builds. Give readers another one.'
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._check_choice('The unit of the variable dbt_delta_publish', unit, ['build', 'group', 'model']) -%}
{%- endmacro %}

{# Where a project publishes: the view that says what readers see, and the table of what was published. #}
{% macro _publish_place(settings) -%}
    {{- return({
        'pointer': api.Relation.create(schema=settings.schema, identifier='dbt_delta_published'),
        'records': api.Relation.create(schema=settings.schema, identifier='dbt_delta_publications'),
    }) -}}
{%- endmacro %}

{# The nodes that `select` takes, without tests, by name; refuses those that cannot be published. #}
{% macro _published_nodes(given) -%}
    {%- set nodes = {} -%}
    {%- for node in dbt_delta._nodes_to_publish(given.get('select')) -%}
        {%- set what = 'publish: ' ~ node.resource_type ~ ' ' ~ node.name -%}
        {%- set key = node.alias | lower -%}
        {%- if node.config.materialized == 'view' or (node.config.get('file_format') or 'delta') | lower != 'delta' -%}
            {%- do dbt_delta._refuse(
                what ~ ' is ' ~ ('a view' if node.config.materialized == 'view' else 'no Delta table')
                ~ ', which has no versions. Make it a Delta table, or leave it out of select in dbt_delta_publish.'
            ) -%}
        {%- elif node.schema | lower == given.schema | lower -%}
            {%- do dbt_delta._refuse(
                what ~ ' is built in schema ' ~ node.schema ~ ', in which readers would find its view. '
                ~ 'Give dbt_delta_publish another schema.'
            ) -%}
        {%- elif key in dbt_delta._publish_place(given).values() | map(attribute='identifier') -%}
            {%- do dbt_delta._refuse(
                what ~ ' has the name of what dbt_delta keeps beside the views. Give it another alias.'
            ) -%}
        {%- elif key in nodes -%}
            {%- do dbt_delta._refuse(
                what ~ ' and ' ~ nodes[key].name ~ ' would both be ' ~ given.schema ~ '.' ~ node.alias
                ~ '. Give one of them another alias.'
            ) -%}
        {%- endif -%}
        {%- do nodes.update({key: node}) -%}
    {%- endfor -%}
    {{- return(nodes) -}}
{%- endmacro %}

{# dbt's own selection; without the plugin names, folders and tags, as in `marts tag:nightly`. #}
{% macro _nodes_to_publish(selection) -%}
    {%- if not selection -%}
        {%- set nodes = [] -%}
        {%- for node in dbt_delta._table_nodes() if node.resource_type != 'seed' -%}
            {%- do nodes.append(node) -%}
        {%- endfor -%}
        {{- return(nodes | sort(attribute='name')) -}}
    {%- elif adapter.dbt_delta_select is defined -%}
        {{- return(dbt_delta._selected_nodes(selection, none, 'dbt_delta_publish')) -}}
    {%- endif -%}
    {%- set nodes, words = {}, selection.split() if selection is string else selection -%}
    {%- for word in words -%}
        {%- set kind, _, value = word.rpartition(':') -%}
        {%- set found = [] -%}
        {%- for node in dbt_delta._table_nodes(views=true)
            if (kind == '' and value in [node.name] + node.fqn) or (kind == 'tag' and value in node.tags) -%}
            {%- do found.append(nodes.update({node.unique_id: node})) -%}
        {%- endfor -%}
        {%- if not found -%}
            {%- do dbt_delta._refuse(
                "dbt_delta_publish: select has '" ~ word ~ "', which takes no model, seed or snapshot. Without the plugin "
                ~ "of dbt_delta's Python package it takes names, folders and tag:<name>."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(nodes.values() | sort(attribute='name')) -}}
{%- endmacro %}

{# What a table's versions need to be found by their time, of a model that is published. #}
{% macro _publish_properties(format) -%}
    {%- set settings = dbt_delta._publish_given() if format == 'delta' else none -%}
    {%- set ids = settings.nodes.values() | map(attribute='unique_id') | list if settings else [] -%}
    {{- return(dbt_delta._feature_properties(['commit_times']) if model.unique_id in ids else {}) -}}
{%- endmacro %}
