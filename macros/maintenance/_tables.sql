{#
    The Delta tables of the catalog, as _maintained gives them. `node` is the selected one that dbt makes
    the table of; tables without one, of all schemas or of those that the variable
    dbt_delta_clone_schemas names, are here as they may be shallow clones of others.
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
            'Clones and views are looked for in ' ~ (schemas | join(', ') or 'no schema')
            ~ ' alone, as dbt_delta_clone_schemas says; those elsewhere hold nothing back.', info=true
        ) -%}
    {%- endif -%}
    {%- for entry in dbt_delta._listing(schemas) -%}
        {%- if entry.type == 'view' -%}
            {%- do views.append(entry) -%}
        {%- elif entry.provider == 'delta' and entry.location -%}
            {%- set key = (entry.schema | lower, entry.name | lower) -%}
            {%- do found.update({key: dbt_delta._maintained(
                api.Relation.create(schema=entry.schema, identifier=entry.name, type='table'),
                entry.location, wanted.get(key), common
            )}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for view in views -%}{%- do dbt_delta._pin(view, found) -%}{%- endfor -%}
    {{- return(found.values() | list) -}}
{%- endmacro %}

{#
    A table to look after: {relation, location, node, thresholds, zorder, pins, steps, floor}. `pins` are of
    views that read the table as it was; see _pins.sql.
#}
{% macro _maintained(relation, location, node, thresholds=none) -%}
    {{- return({
        'relation': relation,
        'location': dbt_delta._plain_location(location),
        'node': node,
        'thresholds': thresholds if node is none else dbt_delta._thresholds(node),
        'zorder': [] if node is none else dbt_delta._names(node.config.get('zorder')),
        'pins': [], 'steps': [], 'floor': none,
    }) -}}
{%- endmacro %}

{# A table's location as _plain_path has those in logs. #}
{% macro _plain_location(text) -%}
    {{- return(modules.re.sub('^file:/+', 'file:/', text).rstrip('/')) -}}
{%- endmacro %}

{#
    When maintenance is worth it: what the model's `maintenance` says, then the variable
    dbt_delta_maintenance, then the defaults.
#}
{% macro _thresholds(node) -%}
    {%- set thresholds = {
        'small_file_mb': 128,
        'min_small_files': 8,
        'deleted_share': 0.1,
        'unordered_share': 0.1,
        'reclaimable_share': 0.2,
        'target_file_mb': 1024,
    } -%}
    {%- set given = [('The variable dbt_delta_maintenance', var('dbt_delta_maintenance', {}))] -%}
    {%- if node is not none -%}
        {%- do given.append(('maintenance of ' ~ node.name, node.config.get('maintenance') or {})) -%}
    {%- endif -%}
    {%- for where, values in given -%}
        {%- if values is not mapping -%}
            {%- do dbt_delta._refuse(where ~ ' is ' ~ values ~ '. Give a dictionary, as in {min_small_files: 20}.') -%}
        {%- endif -%}
        {%- for name, value in values.items() -%}
            {%- if name not in thresholds -%}
                {%- do dbt_delta._refuse(
                    where ~ " has '" ~ name ~ "'. It may have " ~ thresholds.keys() | join(', ') ~ '.'
                ) -%}
            {%- elif value is not number or value is boolean or value <= 0 -%}
                {%- do dbt_delta._refuse(where ~ ' has ' ~ name ~ " '" ~ value ~ "'. Give a number above 0.") -%}
            {%- endif -%}
            {%- do thresholds.update({name: value}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {#- What OPTIMIZE writes is not small, however small it is. -#}
    {%- do thresholds.update({
        'small_file_bytes': ([thresholds.small_file_mb, thresholds.target_file_mb / 2] | min * 1048576) | int,
        'target_file_bytes': (thresholds.target_file_mb * 1048576) | int,
    }) -%}
    {{- return(thresholds) -}}
{%- endmacro %}
