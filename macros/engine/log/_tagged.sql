{#
    The commits with a tag of dbt, the first commit of each table, and versions with a `problem`, newest first. With
    `since`, in milliseconds since 1970, all commits since then with their metrics.
#}
{% macro _tagged_sql(logs, since=none) -%}
{{ dbt_delta._logs_sql(logs, since=none if since is none else since - 3600000) }},
commits as (
    select
        tables.id,
        {{ dbt_delta._file_version('logs.file') }} as version,
                max(logs.value) filter (where logs.value like '%"commitInfo"%') as info,
                bool_or(trim(logs.value) not rlike '^([{].*[}])?$') as is_broken
            {{ dbt_delta._logs_of_tables() }}
            where logs.file rlike '/[0-9]{20}[.]json$'
            group by all
        ),
        told as (
            select
                *,
                from_json(
                    info,
                    'commitInfo struct<timestamp bigint, inCommitTimestamp bigint, operation string,
                        operationParameters map<string, string>, userMetadata string
                        {%- if since is not none %}, operationMetrics map<string, string> {%- endif %}>'
                ).commitInfo as about,
                max(version) over (partition by id) - min(version) over (partition by id) + 1
                    > count(*) over (partition by id) as is_short
            from commits
        )
select
    id,
    version,
    timestamp_millis(coalesce(about.inCommitTimestamp, about.timestamp)) as timestamp,
    about.operation as operation,
    to_json(about.operationParameters) as operationParameters,
    {{ "'{}'" if since is none else 'to_json(about.operationMetrics)' }} as operationMetrics,
    coalesce(about.inCommitTimestamp, about.timestamp) as written,
    about.userMetadata as userMetadata,
    case
        when is_broken then concat('version ', version, ' is not valid JSON')
        when is_short then 'a version is missing'
    end as problem
    from (select *, min(if(about is null, null, version)) over (partition by id) as oldest from told)
    where is_broken or {% if since is none -%}
        version = oldest or about.userMetadata like '%dbt_invocation_id%'
    {%- else -%}
        coalesce(about.inCommitTimestamp, about.timestamp) >= {{ since | int }}
    {%- endif %}
order by id, version desc
{%- endmacro %}
