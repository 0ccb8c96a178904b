{#
    What differs between table formats has a folder per format here, with macros of the same names: `_delta__x` and
    `_iceberg__x`. All else calls the one of the target's format through `_in_format`.
#}
{% macro _in_format(name) -%}
    {{- return(dbt_delta['_' ~ dbt_delta._target_format() ~ '__' ~ name]) -}}
{%- endmacro %}

{# The format of the target's tables: that of its default catalog. #}
{% macro _target_format() -%}
    {%- set settings = {} -%}
    {%- if adapter is defined and adapter.config is defined
        and adapter.config.credentials.server_side_parameters is defined -%}
        {%- set settings = adapter.config.credentials.server_side_parameters -%}
    {%- endif -%}
    {%- set catalog = settings.get('spark.sql.defaultCatalog', 'spark_catalog') -%}
    {%- set kind = settings.get('spark.sql.catalog.' ~ catalog, '') -%}
    {{- return('iceberg' if kind == 'org.apache.iceberg.spark.SparkCatalog' else 'delta') -}}
{%- endmacro %}
