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
    Runs a statement: {problem, rows}, the error in one line or an empty text. Without the plugin an
    error cannot be caught, and ends the run operation.
#}
{% macro _attempt(sql) -%}
    {%- if adapter.dbt_delta_attempt is defined -%}
        {%- set problem, table = adapter.dbt_delta_attempt(sql) -%}
    {%- else -%}
        {%- set problem, table = '', run_query(sql) -%}
    {%- endif -%}
    {{- return({'problem': problem, 'rows': table.rows if table else []}) -}}
{%- endmacro %}
