{#
    The columns of a SELECT, as {name, type, carried}; Spark only plans it. Expressions are planned with it, so Spark
    reports the names in them that do not exist. `carried` is true if a column brings the DEFAULT of a table that the
    SELECT reads; a server is asked for that only if the SELECT is to be `stored`.
#}
{% macro _columns_of(sql, expressions={}, stored=false) -%}
    {%- set planned = dbt_delta.get_planned_sql(sql, expressions) -%}
    {%- set columns = adapter.dbt_delta_columns(planned) if adapter.dbt_delta_columns is defined else none -%}
    {%- if columns is none and stored -%}
        {%- set columns = dbt_delta._columns_by_view(planned) -%}
    {%- elif columns is none -%}
        {%- set columns = [] -%}
        {%- for row in run_query('describe query ' ~ planned).rows -%}
            {%- do columns.append({'name': row[0], 'type': row[1]}) -%}
        {%- endfor -%}
        {%- if dbt_delta._hides_names(columns) -%}
            {%- set columns = dbt_delta._columns_by_view(planned) -%}
        {%- endif -%}
    {%- endif -%}
    {{- return(columns[:(columns | length) - (expressions | length)]) -}}
{%- endmacro %}

{# A SELECT with expressions on its columns behind these. #}
{% macro get_planned_sql(sql, expressions={}) -%}
select
    batch.*
    {%- for name, expression in expressions.items() %},
    ({{ expression }}) as {{ dbt_delta._quoted('constraint ' ~ name) }}
    {%- endfor %}
from (
{{ sql }}
) as batch
{%- endmacro %}

{#
    Drops a temporary view, by its quoted name, that was needed for one statement. With the plugin the view ends with
    its connection, which has its own session. Without it all runs of a process share one session.
#}
{% macro _drop_temporary_view(view) -%}
    {%- if adapter.dbt_delta_attempt is not defined -%}{%- do run_query('drop view if exists ' ~ view) -%}{%- endif -%}
{%- endmacro %}
