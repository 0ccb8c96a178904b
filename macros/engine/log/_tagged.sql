{# The commits of logs that have a tag of dbt, and the first of each table, newest first. #}
{% macro _tagged_sql(tables, logs) -%}
    {%- set lines, known = [], [] -%}
    {%- for log in logs -%}{%- do lines.append(dbt_delta._log_lines(log)) -%}{%- endfor -%}
    {%- for table in tables -%}
        {%- do known.append('(' ~ table.id ~ ', ' ~ dbt_delta._literal(table.location) ~ ')') -%}
    {%- endfor -%}
with logs as (
    {{ lines | join('\n    union all\n    ') }}
),
tables (id, location) as (
    values {{ known | join(', ') }}
),
commits as (
    select
        tables.id,
        bigint(regexp_extract(logs.file, '/([0-9]{20})[.]json$', 1)) as version,
        from_json(
            logs.value,
            'commitInfo struct<timestamp bigint, inCommitTimestamp bigint, operation string,
                operationParameters map<string, string>, userMetadata string>'
        ).commitInfo as about
    from logs
    inner join tables
        on {{ dbt_delta._plain_path("regexp_extract(logs.file, '^(.*)/_delta_log/', 1)") }} = tables.location
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
