{% macro _documented_view() -%}
    {{- return(dbt_delta._quoted(dbt_delta._beside(this, 'tmp').identifier ~ '_documented')) -}}
{%- endmacro %}

{#
    Whether CREATE OR REPLACE can build this table in place of the existing one: both have the same format, which
    keeps versions. Delta refuses partitions for a table that was ever clustered, and another location.
#}
{% macro _is_replaceable(existing, layout) -%}
    {%- set was_clustered = dbt_delta._has_feature(existing.properties, 'clustering') -%}
    {%- set moves = layout.location and not existing.location.rstrip('/').endswith(
        layout.location.split('://')[-1].split('file:')[-1].rstrip('/')
    ) -%}
    {{- return(
        existing.type == 'table'
        and existing.provider == layout.format
        and layout.format in ('delta', 'iceberg')
        and not (was_clustered and layout.partitions)
        and not moves
    ) -}}
{%- endmacro %}
