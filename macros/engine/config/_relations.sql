{# A relation with a unique name in the same schema, which exists only during this run. #}
{% macro _beside(relation, purpose, of='') -%}
    {%- set own = local_md5(relation.schema ~ ' ' ~ invocation_id ~ of)[:10] -%}
    {{- return(api.Relation.create(
        schema=relation.schema,
        identifier=relation.identifier ~ '__dbt_' ~ purpose ~ '_' ~ own,
        type='table'
    )) -}}
{%- endmacro %}
