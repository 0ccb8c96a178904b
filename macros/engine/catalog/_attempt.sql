{#
    Runs a statement: {problem, rows, table}. `problem` is the error in one line, or an empty text. Without the plugin a
    SQL script catches the error: it knows only whether a path is missing, and does not catch errors of Java. A script
    returns no rows of SHOW and DESCRIBE, so these run again by themselves.
#}
{% macro _attempt(sql) -%}
    {%- if adapter.dbt_delta_attempt is defined -%}
        {%- set problem, table = adapter.dbt_delta_attempt(sql) -%}
    {%- else -%}
        {%- set table = run_query(dbt_delta.get_attempt_sql(sql)) -%}
        {%- set problem = '' -%}
        {%- if table is not none and 'dbt_delta_problem' in table.column_names -%}
            {%- set problem, table = table.rows[0]['dbt_delta_problem'], none -%}
        {%- elif sql.split()[0] | lower in ('show', 'describe') -%}
            {%- set table = run_query(sql) -%}
        {%- endif -%}
    {%- endif -%}
    {{- return({'problem': problem, 'rows': table.rows if table else [], 'table': table}) -}}
{%- endmacro %}

{% macro get_attempt_sql(sql) -%}
begin
    declare exit handler for sqlstate '42K03'
    begin
        select 'PATH_NOT_FOUND' as dbt_delta_problem;
    end;
    declare exit handler for sqlexception
    begin
        select 'Spark failed; see its log' as dbt_delta_problem;
    end;
    execute immediate {{ dbt_delta._literal(sql) }};
end
{%- endmacro %}
