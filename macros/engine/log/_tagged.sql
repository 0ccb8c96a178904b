{# The commits with a tag of dbt, and the first commit of each table, newest first. #}
{% macro _tagged_sql(logs) -%}
{{ dbt_delta._logs_sql(logs) }},
commits as (
    select
        tables.id,
        {{ dbt_delta._file_version('logs.file') }} as version,
        from_json(
            logs.value,
            'commitInfo struct<timestamp bigint, inCommitTimestamp bigint, operation string,
                operationParameters map<string, string>, userMetadata string>'
        ).commitInfo as about
    {{ dbt_delta._logs_of_tables() }}
    where logs.file rlike '/[0-9]{20}[.]json$' and logs.value like '%"commitInfo"%'
)
select
    id,
    version,
    timestamp_millis(coalesce(about.inCommitTimestamp, about.timestamp)) as timestamp,
    about.operation as operation,
    to_json(about.operationParameters) as operationParameters,
    '{}' as operationMetrics,
    about.userMetadata as userMetadata
from (select *, min(version) over (partition by id) as oldest from commits where about is not null)
where version = oldest or about.userMetadata like '%dbt_invocation_id%'
order by id, version desc
{%- endmacro %}
