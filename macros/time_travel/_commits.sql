{#
    The commits of a Delta table, newest first: {version, time, operation, parameters, metrics} and what
    its tag says, all none or empty where dbt did not make it: {node, run, project, started}, `undo_of`
    the run that an undo took back, with `undo_cascade` and the properties that it `kept`,
    and `replaced`, what else stood there when the table was created.
#}
{% macro _commits(relation, limit=none) -%}
    {{- return(dbt_delta._commits_of(dbt_delta._named(relation), limit)) -}}
{%- endmacro %}

{# The same of a table by its name in SQL, or by its path. #}
{% macro _commits_of(name, limit=none) -%}
    {%- set commits = [] -%}
    {%- for row in run_query(
        'describe history ' ~ name ~ (' limit ' ~ limit if limit is not none else '')
    ).rows -%}
        {%- set tag = fromjson(row['userMetadata'] or '{}', {}) -%}
        {%- set tag = tag if tag is mapping else {} -%}
        {%- do commits.append({
            'version': row['version'] | int,
            'time': row['timestamp'],
            'operation': row['operation'],
            'parameters': fromjson(row['operationParameters'] or '{}', {}),
            'metrics': fromjson(row['operationMetrics'] or '{}', {}),
            'node': tag.get('dbt_node_id'),
            'run': tag.get('dbt_invocation_id'),
            'project': tag.get('dbt_project'),
            'started': tag.get('dbt_started_at', ''),
            'undo_of': tag.get('dbt_undo_of'),
            'undo_cascade': tag.get('dbt_undo_cascade', false),
            'kept': tag.get('dbt_kept_properties', {}),
            'replaced': tag.get('dbt_replaced'),
        }) -%}
    {%- endfor -%}
    {{- return(commits) -}}
{%- endmacro %}

{# Operations of commits that change nothing which anybody reads. #}
{% macro _upkeep_operations() -%}
    {{- return([
        'OPTIMIZE', 'REORG', 'VACUUM START', 'VACUUM END', 'COMPUTE STATS', 'UPGRADE PROTOCOL', 'ROW TRACKING BACKFILL',
    ]) -}}
{%- endmacro %}

{# The first of several metrics that a commit has, as a number; none without one. #}
{% macro _metric(commit, names) -%}
    {%- for name in names if name in commit.metrics -%}{{- return(commit.metrics[name] | int) -}}{%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}
