{# The answer to a query of a door: a table of rows. What asks more than once has a macro of its own beside this one. #}
{% macro _ask(sql) -%}
    {{- return(run_query(sql)) -}}
{%- endmacro %}
