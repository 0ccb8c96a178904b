{#
    The commits of a table, newest first: {version, snapshot, time, operation, parameters, metrics}; `snapshot` is the
    number by which readers find the version, if that is another one. And what the tag
    says, which is none or empty if dbt did not make the commit: {node, run, project, started}; of an undo also
    `undo_of`, the run that was undone, `undo_cascade`, `undo_exclude`, the names that it left out, and `kept`, the
    properties that it kept, none for one that it kept away; `replaced`, the kind
    of relation that the table replaced when it was created; `expectations`, what became of the rows of the run;
    `released`, which rows came from the quarantine; `inputs`, what was read of them, {name: {id, version}}, and
    `carrier`, the commit from which that run went on; `is_hook`, whether a model's hook made it; `stream`, the stream's
    id and the number of its batch; `erased`, the erasure that removed subjects before it.
#}
{% macro _commits(relation, limit=none) -%}
    {{- return(dbt_delta._commits_of(dbt_delta._named(relation), limit)) -}}
{%- endmacro %}

{# The same of a table by its name in SQL, or by its path. #}
{% macro _commits_of(name, limit=none) -%}
    {{- return(dbt_delta._commits_in(run_query(dbt_delta._in_format('history_sql')(name, limit)).rows)) -}}
{%- endmacro %}

{# The commits in rows of DESCRIBE HISTORY. #}
{% macro _commits_in(rows) -%}
    {%- set commits = [] -%}
    {%- for row in rows -%}
        {%- do commits.append(dbt_delta._commit(row)) -%}
    {%- endfor -%}
    {{- return(commits) -}}
{%- endmacro %}

{# A commit from a row of DESCRIBE HISTORY. #}
{% macro _commit(row) -%}
    {{- return(dict({
        'version': row['version'] | int,
        'snapshot': dbt_delta._in_format('snapshot_of')(row),
        'time': row['timestamp'],
        'operation': row['operation'],
        'parameters': fromjson(row['operationParameters'] or '{}', {}),
        'metrics': fromjson(row['operationMetrics'] or '{}', {}),
    }, **dbt_delta._tag(row['userMetadata']))) -}}
{%- endmacro %}

{# Our part of a commit's metadata. Others write there, too: it is not ours if the run's id is not a text. #}
{% macro _tag(text) -%}
    {%- set found = fromjson(text or '{}', {}) -%}
    {%- set found = found if found is mapping else {} -%}
    {%- set is_ours = found.get('dbt_invocation_id') is string and found['dbt_invocation_id'] != '' -%}
    {%- set texts, kept, excluded = {}, {}, found.get('dbt_undo_exclude') -%}
    {%- for key, value in found.items() if is_ours and value is string -%}
        {%- do texts.update({key: value}) -%}
    {%- endfor -%}
    {%- if is_ours and found.get('dbt_kept_properties') is mapping -%}
        {%- for key, value in found['dbt_kept_properties'].items() if value is string or value is none -%}
            {%- do kept.update({key: value}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return({
        'node': texts.get('dbt_node_id'), 'run': texts.get('dbt_invocation_id'), 'project': texts.get('dbt_project'),
        'started': texts.get('dbt_started_at', ''), 'undo_of': texts.get('dbt_undo_of'),
        'replaced': texts.get('dbt_replaced'), 'kept': kept, 'erased': texts.get('dbt_erased'),
        'expectations': found['dbt_expectations'] if is_ours and found.get('dbt_expectations') is mapping else {},
        'released': found['dbt_released'] if is_ours and found.get('dbt_released') is mapping else {},
        'inputs': found['dbt_inputs'] if is_ours and found.get('dbt_inputs') is mapping else {},
        'carrier': found['dbt_carrier'] if is_ours and found.get('dbt_carrier') is integer else none,
        'is_hook': is_ours and found.get('dbt_hook') is true,
        'stream': found['dbt_stream'] if is_ours and found.get('dbt_stream') is mapping else {},
        'undo_cascade': is_ours and found.get('dbt_undo_cascade') is true,
        'undo_exclude': excluded | select('string') | list if is_ours and excluded is sequence and excluded is not string
            else [],
    }) -}}
{%- endmacro %}
