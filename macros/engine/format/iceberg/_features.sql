{# Iceberg's counterpart of a feature of Delta's, as {key, value}; without a key where it has none. #}
{% macro _iceberg__feature_property(feature) -%}
    {{- return({'key': 'write.merge.mode', 'value': 'merge-on-read'} if feature == 'deletion_vectors'
        else {'key': none, 'value': none}) -}}
{%- endmacro %}

{# Deletion vectors are format version 3; columns have ids, and types widen, in each version. #}
{% macro _iceberg__feature_properties(features) -%}
    {{- return(dbt_delta._iceberg__write_mode('merge_on_read') if 'deletion_vectors' in features else {}) -}}
{%- endmacro %}

{# The properties of a write_mode. #}
{% macro _iceberg__write_mode(mode) -%}
    {%- set value = mode | replace('_', '-') -%}
    {%- set properties = {'write.delete.mode': value, 'write.update.mode': value, 'write.merge.mode': value} -%}
    {{- return(dict(properties, **{'format-version': '3'}) if mode == 'merge_on_read' else properties) -}}
{%- endmacro %}

{% macro _iceberg__has_feature(properties, feature) -%}
    {{- return(
        feature in ('column_mapping', 'type_widening', 'timestampNtz')
        or (feature == 'variantType' and properties.get('format-version', '2') | int > 2)
        or (feature == 'deletion_vectors' and properties.get('write.merge.mode') == 'merge-on-read')
    ) -}}
{%- endmacro %}

{% macro _iceberg__will_have_feature(table, layout, feature) -%}
    {{- return(dbt_delta._iceberg__has_feature(dict(table.properties, **layout.properties), feature)) -}}
{%- endmacro %}

{% macro _iceberg__turn_on(feature) -%}
    {{- return("Add tblproperties {'format-version': '3'} to the model") -}}
{%- endmacro %}
