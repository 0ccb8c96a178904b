{# Path by name of the folders of a relation's schema that are no relation, as the schema was listed. #}
{% macro _folders(relation) -%}
    {{- return(graph.get('dbt_delta_folders', {}).get(relation.schema | lower, {})) -}}
{%- endmacro %}
