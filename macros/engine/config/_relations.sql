{#
    A relation with a unique name in the same schema, which exists only during this run. Each microbatch has its own: a
    batch that failed may have left one.
#}
{% macro _beside(relation, purpose, of='') -%}
    {%- set start = model.config.get('__dbt_internal_microbatch_event_time_start', '')
        if model is defined and model.config is defined else '' -%}
    {%- set own = local_md5(relation.schema ~ ' ' ~ invocation_id ~ of ~ start)[:10] -%}
    {{- return(api.Relation.create(
        schema=relation.schema,
        identifier=relation.identifier ~ '__dbt_' ~ purpose ~ '_' ~ own,
        type='table'
    )) -}}
{%- endmacro %}
