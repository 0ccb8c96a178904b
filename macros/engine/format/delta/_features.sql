{#
    The property that turns a feature of the format on, as {key, value}. A name that is not in the list is that of a
    feature of Delta's protocol.
#}
{% macro _delta__feature_property(feature) -%}
    {%- set keys = {
        'append_only': 'appendOnly', 'auto_compact': 'autoOptimize.autoCompact', 'change_feed': 'enableChangeDataFeed',
        'column_mapping': 'columnMapping.mode', 'commit_times': 'enableInCommitTimestamps',
        'deletion_vectors': 'enableDeletionVectors', 'optimize_write': 'autoOptimize.optimizeWrite',
        'type_widening': 'enableTypeWidening',
    } -%}
    {{- return({
        'key': 'delta.' ~ keys.get(feature, 'feature.' ~ feature),
        'value': 'name' if feature == 'column_mapping' else 'true' if feature in keys else 'supported',
    }) -}}
{%- endmacro %}

{# The properties that turn these features on. #}
{% macro _delta__feature_properties(features) -%}
    {%- set properties = {} -%}
    {%- for feature in features -%}
        {%- set property = dbt_delta._feature_property(feature) -%}
        {%- do properties.update({property.key: property.value}) -%}
    {%- endfor -%}
    {{- return(properties) -}}
{%- endmacro %}

{# Whether a table with these properties has a feature. #}
{% macro _delta__has_feature(properties, feature) -%}
    {%- set property = dbt_delta._feature_property(feature) -%}
    {%- if feature == 'column_mapping' -%}
        {{- return(dbt_delta._plain(properties.get(property.key, 'none')) | lower in ('name', 'id')) -}}
    {%- endif -%}
    {{- return(dbt_delta._has_property(properties, property.key, property.value)) -}}
{%- endmacro %}

{# Whether a table has a feature once it matches the layout. #}
{% macro _delta__will_have_feature(table, layout, feature) -%}
    {%- set key, properties = dbt_delta._feature_property(feature).key, dict(table.properties) -%}
    {%- if key in layout.properties -%}
        {%- do properties.update({key: dbt_delta._plain(layout.properties[key])}) -%}
    {%- endif -%}
    {{- return(dbt_delta._has_feature(properties, feature)) -}}
{%- endmacro %}

{# What to write into a model to turn a feature on, for messages. #}
{% macro _delta__turn_on(feature) -%}
    {{- return('Add tblproperties ' ~ dbt_delta._feature_properties([feature]) ~ ' to the model') -}}
{%- endmacro %}
