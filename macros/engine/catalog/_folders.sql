{# The folders of a relation's schema that belong to no relation, {name: path}, at the time of the listing. #}
{% macro _folders(relation) -%}
    {{- return(graph.get('dbt_delta_folders', {}).get(relation.schema | lower, {})) -}}
{%- endmacro %}
