{#
    What tells commits of a table from those of another table at the same place, by version: {version: text}; without
    those that are no longer in the log. The table's id does not: CREATE OR REPLACE changes it, and RESTORE brings the
    old one back. It is asked before the rows are read: if the table is replaced between, the next run sees another.
#}
{% macro _commit_ids(location, versions) -%}
    {%- set ids = {} -%}
    {%- for row in run_query(dbt_delta._commit_ids_sql(location, versions | select('ge', 0) | unique | list)).rows -%}
        {%- do ids.update({row['version'] | int: row['id']}) -%}
    {%- endfor -%}
    {{- return(ids) -}}
{%- endmacro %}

{# What a table says that was read of its inputs; see _watermark_in. Mostly one of the newest commits has it. #}
{% macro _watermark(relation, node) -%}
    {%- set some = 20 -%}
    {%- set rows = dbt_delta._attempt('describe history ' ~ dbt_delta._named(relation) ~ ' limit ' ~ some).rows -%}
    {%- set commits = dbt_delta._commits_in(rows) -%}
    {%- set found = dbt_delta._watermark_in(commits, node) -%}
    {#- What others did while the rows were written may be before these commits. -#}
    {%- set is_told = found is not none and (found.since is none or commits[-1].version <= found.since) -%}
    {{- return(
        found if is_told or rows | length < some
        else dbt_delta._watermark_in(dbt_delta._commits(relation), node)
    ) -}}
{%- endmacro %}

{# The commits after a version, or all if a RESTORE among them may bring names back. Others may commit meanwhile. #}
{% macro _commits_since(relation, from, to) -%}
    {%- set commits = dbt_delta._commits(relation, to - from + 20) -%}
    {%- for commit in commits if from < commit.version <= to and commit.operation == 'RESTORE' -%}
        {{- return(dbt_delta._commits(relation)) -}}
    {%- endfor -%}
    {{- return(commits) -}}
{%- endmacro %}

{# What the commits after one version, up to another, did to an input: [{version, adds, removes}]. #}
{% macro _commit_kinds(location, from, to) -%}
    {%- set kinds = [] -%}
    {%- for row in run_query(dbt_delta._commit_kinds_sql(location, from + 1, to)).rows -%}
        {%- do kinds.append({
            'version': row['version'] | int, 'adds': row['adds'] | string | lower == 'true',
            'removes': row['removes'] | string | lower == 'true',
        }) -%}
    {%- endfor -%}
    {{- return(kinds) -}}
{%- endmacro %}
