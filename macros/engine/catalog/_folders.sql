{# The folders of a relation's schema that belong to no relation, {name: path}, at the time of the listing. #}
{% macro _folders(relation) -%}
    {{- return(dbt_delta._memory('folders').get(relation.schema | lower, {})) -}}
{%- endmacro %}

{# What killed runs left in a relation's schema, at the time of the listing. #}
{% macro _leftovers(relation) -%}
    {{- return(dbt_delta._memory('leftovers').get(relation.schema | lower, [])) -}}
{%- endmacro %}
