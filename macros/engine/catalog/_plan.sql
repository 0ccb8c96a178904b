{#
    What is worth doing for each Delta table of the selected nodes, according to its log: tables with `floor`, `steps`
    and `reclaimable`. A table without a state has none of these.
#}
{% macro _plan(select, state, macro) -%}
    {%- set planned = [] -%}
    {%- for table in dbt_delta._with_times(dbt_delta._selected_tables(select, state, macro)) -%}
        {%- do planned.append(table if table.state is none
            else dbt_delta._planned(dict(table, floor=dbt_delta._floor(table)))) -%}
    {%- endfor -%}
    {{- return(planned) -}}
{%- endmacro %}
