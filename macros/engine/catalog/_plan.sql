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

{# A table with its state and its floor, as a plan has them; none if the catalog has no location of it. #}
{% macro _read_table(relation) -%}
    {%- for found in dbt_delta._read_states(dbt_delta._catalog_tables([], [relation]))
        if dbt_delta._bare(found.relation) | lower == dbt_delta._bare(relation) | lower -%}
        {%- set table = dbt_delta._with_times([found])[0] -%}
        {{- return(table if table.state is none else dict(table, floor=dbt_delta._floor(table))) -}}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{#
    A planned table as it is right before its VACUUM. A need is an age, and readers come: what was read more than ten
    minutes ago is read again. An hour is added to each need for the rest.
#}
{% macro _table_now(table) -%}
    {%- set now = run_query('select unix_millis(current_timestamp()) as now').rows[0]['now'] | int -%}
    {%- if now - table.state.now <= 600000 -%}{{- return(table) -}}{%- endif -%}
    {%- set found = dbt_delta._read_table(table.relation) -%}
    {%- if found is none or found.state is none -%}
        {%- set problem = 'it is not in the catalog' if found is none else dbt_delta._log_problem(found) -%}
        {{- return(dict(table, floor=dict(table.floor, blocked=problem))) -}}
    {%- endif -%}
    {{- return(dict(table, state=found.state, pins=found.pins, floor=found.floor)) -}}
{%- endmacro %}

{# Why the retention of a table is not to be touched now, or none: another call is about to VACUUM it. #}
{% macro _lent_now(table) -%}
    {{- return(dbt_delta._lent_by_another(
        dbt_delta._describe(table.relation).properties.get('dbt_delta.retention'), table.state.now
    )) -}}
{%- endmacro %}
