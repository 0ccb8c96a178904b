{# The commits of tables, newest first: {id, version, operation, run}; those since a time in ms where given. #}
{% macro _young_commits_sql(logs, since=none) -%}
{{ dbt_delta._logs_sql(logs, since=since) }}
select
    tables.id,
    {{ dbt_delta._file_version('logs.file') }} as version,
    get_json_object(logs.value, '$.commitInfo.operation') as operation,
    coalesce(
        get_json_object(logs.value, '$.commitInfo.inCommitTimestamp'), get_json_object(logs.value, '$.commitInfo.timestamp')
    ) as written,
    get_json_object(get_json_object(logs.value, '$.commitInfo.userMetadata'), '$.dbt_invocation_id') as run,
    get_json_object(get_json_object(logs.value, '$.commitInfo.userMetadata'), '$.dbt_limited_by') as limited_by
{{ dbt_delta._logs_of_tables() }}
where logs.file rlike '/[0-9]{20}[.]json$' and logs.value like '%"commitInfo"%'
order by id, version desc
{%- endmacro %}
