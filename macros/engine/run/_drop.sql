{% macro _drop(relation, type='table') -%}
    {%- do run_query('drop ' ~ type ~ ' if exists ' ~ dbt_delta._named(relation)) -%}
{%- endmacro %}
