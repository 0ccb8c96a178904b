{#
    A text that tells this version of a Delta table from all others, and from those of other tables that stood
    here; none of a view and the like. A server is asked for its last commit.
#}
{% macro _state_of(relation) -%}
    {%- if adapter.dbt_delta_table_state is defined and dbt_delta._is_session() -%}
        {{- return(adapter.dbt_delta_table_state(relation.schema, relation.identifier)) -}}
    {%- endif -%}
    {%- set sql = 'describe history ' ~ dbt_delta._named(relation) ~ ' limit 1' -%}
    {%- if adapter.dbt_delta_attempt is defined -%}
        {%- set rows = dbt_delta._attempt(sql).rows -%}
    {%- else -%}
        {#- The script that catches errors has no rows of a command. Once per run it says that this is a table. -#}
        {%- set refused = graph.setdefault('dbt_delta_no_history', {}) -%}
        {%- if sql not in refused -%}{%- do refused.update({sql: dbt_delta._attempt(sql).problem}) -%}{%- endif -%}
        {%- set rows = [] if refused[sql] else run_query(sql).rows -%}
    {%- endif -%}
    {{- return(rows[0]['version'] | int ~ ' ' ~ rows[0]['timestamp'] if rows | length else none) -}}
{%- endmacro %}
