{#
    A Delta table as it is now: {id, of this version and of no other, required, the columns without NULLs by
    a constraint, in lower case}; none of a view and the like. A server is asked for its last commit, and
    tells no constraints.
#}
{% macro _state_of(relation) -%}
    {%- if adapter.dbt_delta_state is defined and dbt_delta._is_session() -%}
        {{- return(adapter.dbt_delta_state(relation.schema, relation.identifier)) -}}
    {%- endif -%}
    {%- set found = dbt_delta._attempt('describe history ' ~ dbt_delta._named(relation) ~ ' limit 1') -%}
    {%- if found.problem or not found.rows -%}{{- return(none) -}}{%- endif -%}
    {%- set commit = found.rows[0] -%}
    {{- return({'id': commit['version'] | int ~ ' ' ~ commit['timestamp'], 'required': []}) -}}
{%- endmacro %}
