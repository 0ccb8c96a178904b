{# Runs one statement of a door. The log of one that carries data shows its beginning only. #}
{% macro _execute(sql, has_data=false) -%}
    {%- if has_data -%}{%- do adapter.add_query(sql, abridge_sql_log=true) -%}
    {%- else -%}{%- do run_query(sql) -%}
    {%- endif -%}
{%- endmacro %}

{# Runs the statement whose result dbt reports as that of the node. #}
{% macro _main(sql) -%}
    {%- call statement('main') -%}{{ sql }}{%- endcall -%}
{%- endmacro %}
