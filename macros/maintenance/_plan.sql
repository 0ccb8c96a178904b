{#
    What is worth doing for each Delta table of the selected nodes, as its log has it: tables as
    _catalog_tables gives them, with `floor` and `steps`: {table, kind, do, why, sql, bytes, gain, parts}.
    `bytes` are those that the step writes at most; `gain` in bytes that readers need no longer read or
    that become free, a file counted as the four megabytes that opening it costs Spark.
#}
{% macro _plan(select, state, macro) -%}
    {%- set tables = dbt_delta._selected_tables(select, state, macro) -%}
    {%- for table in tables if table.state is not none -%}
        {%- do table.update({'floor': dbt_delta._floor(table)}) -%}
        {%- if not dbt_delta._is_skipped(table.node) -%}
            {%- do dbt_delta._add_rewrites(table) -%}
        {%- endif -%}
        {%- do dbt_delta._add_vacuum(table) -%}
    {%- endfor -%}
    {{- return(tables) -}}
{%- endmacro %}
