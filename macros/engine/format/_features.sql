{#
    The property that turns a feature of the format on, as {key, value}. A name that is not in the list is that of a
    feature of Delta's protocol.
#}
{% macro _feature_property(feature) -%}
    {{- return(dbt_delta._in_format('feature_property')(feature)) -}}
{%- endmacro %}

{# The properties that turn these features on. #}
{% macro _feature_properties(features) -%}
    {{- return(dbt_delta._in_format('feature_properties')(features)) -}}
{%- endmacro %}

{# Whether a table with these properties has a feature. #}
{% macro _has_feature(properties, feature) -%}
    {{- return(dbt_delta._in_format('has_feature')(properties, feature)) -}}
{%- endmacro %}

{# Whether a table has a feature once it matches the layout. #}
{% macro _will_have_feature(table, layout, feature) -%}
    {{- return(dbt_delta._in_format('will_have_feature')(table, layout, feature)) -}}
{%- endmacro %}

{# What to write into a model to turn a feature on, for messages. #}
{% macro _turn_on(feature) -%}{{- return(dbt_delta._in_format('turn_on')(feature)) -}}{%- endmacro %}
