{# A relation of a name of its own in the same schema, for what lives during this run only. #}
{% macro _beside(relation, purpose) -%}
    {%- set own = local_md5(relation.schema ~ ' ' ~ invocation_id)[:10] -%}
    {{- return(api.Relation.create(
        schema=relation.schema,
        identifier=relation.identifier ~ '__dbt_' ~ purpose ~ '_' ~ own,
        type='table'
    )) -}}
{%- endmacro %}
