{# A relation, or the one that a run operation names; see _relation_named. #}
{% macro _relation_given(relation, macro) -%}
    {{- return(dbt_delta._relation_named(relation, macro) if relation is string else relation) -}}
{%- endmacro %}

{#
    Runs a statement that rewrites files and no rows, or says it, and gives what it did by the commit
    it made. A failure is an error.
#}
{% macro _run_upkeep(relation, sql, dry_run) -%}
    {%- set line = sql | replace('\n', ' ') -%}
    {%- if dry_run -%}
        {%- do log(line ~ ' (dry run)', info=true) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set before = dbt_delta._commits(relation, 1)[0].version -%}
    {%- do run_query(sql) -%}
    {%- do log(line ~ ': ' ~ dbt_delta._rewritten(relation, before), info=true) -%}
    {{- return('') -}}
{%- endmacro %}

{# What the statement did that committed after a version: files and bytes before and after. #}
{% macro _rewritten(relation, version) -%}
    {%- set texts = [] -%}
    {%- for commit in dbt_delta._commits(relation, 20)
        if commit.version > version and commit.operation in ('OPTIMIZE', 'REORG') -%}
        {%- for kind in ('Removed', 'Added') -%}
            {%- do texts.append(
                dbt_delta._files(dbt_delta._metric(commit, ['num' ~ kind ~ 'Files']) or 0) ~ ' of '
                ~ dbt_delta._bytes(dbt_delta._metric(commit, ['num' ~ kind ~ 'Bytes']) or 0)
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(texts[:2] | join(' -> ') if texts else 'nothing to do') -}}
{%- endmacro %}

{#
    Runs a statement: {problem, rows}, the error in one line or an empty text. Without the plugin a SQL
    script catches the error, and of its words has only whether a path is missing; errors of Java it does not catch.
#}
{% macro _attempt(sql) -%}
    {%- if adapter.dbt_delta_attempt is defined -%}
        {%- set problem, table = adapter.dbt_delta_attempt(sql) -%}
    {%- else -%}
        {%- set table = run_query(dbt_delta.get_attempt_sql(sql)) -%}
        {%- set failed = table is not none and 'dbt_delta_problem' in table.column_names -%}
        {%- set problem = table.rows[0]['dbt_delta_problem'] if failed else '' -%}
    {%- endif -%}
    {{- return({'problem': problem, 'rows': table.rows if table else []}) -}}
{%- endmacro %}

{% macro get_attempt_sql(sql) -%}
begin
    declare exit handler for sqlstate '42K03'
    begin
        select 'PATH_NOT_FOUND' as dbt_delta_problem;
    end;
    declare exit handler for sqlexception
    begin
        select 'Spark refused it; its log says why' as dbt_delta_problem;
    end;
    execute immediate {{ dbt_delta._literal(sql) }};
end
{%- endmacro %}
