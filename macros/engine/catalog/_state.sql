{#
    A text that tells this version of a Delta table from all others, and from those of other tables that stood
    here; none of a view and the like. A server is asked for its last commit.
#}
{% macro _state_of(relation) -%}
    {%- if adapter.dbt_delta_table_state is defined and dbt_delta._is_session() -%}
        {{- return(adapter.dbt_delta_table_state(relation.schema, relation.identifier)) -}}
    {%- endif -%}
    {%- set rows = dbt_delta._attempt('describe history ' ~ dbt_delta._named(relation) ~ ' limit 1').rows -%}
    {{- return(rows[0]['version'] | int ~ ' ' ~ rows[0]['timestamp'] if rows | length else none) -}}
{%- endmacro %}

{# The id that a Delta table keeps for its life. #}
{% macro _table_id(relation) -%}
    {{- return(run_query('describe detail ' ~ dbt_delta._named(relation)).rows[0]['id']) -}}
{%- endmacro %}
