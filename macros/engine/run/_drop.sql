{% macro _drop(relation, type='table') -%}
    {%- do run_query(dbt_delta._in_format('drop_sql')(dbt_delta._named(relation), type)) -%}
{%- endmacro %}
