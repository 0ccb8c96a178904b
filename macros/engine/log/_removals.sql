{#
    What the commits of tables took away: {id, version, removed, read}. `removed` is the earliest time of a removal, in
    milliseconds; an OPTIMIZE marks files with the time when it began. `read` is the version that a commit with files of
    the change feed had read; 0 if it does not say.
#}
{% macro _removals_sql(logs) -%}
{{ dbt_delta._logs_sql(logs) }}
select
    tables.id,
    {{ dbt_delta._file_version('logs.file') }} as version,
    min(bigint(get_json_object(logs.value, '$.remove.deletionTimestamp'))) as removed,
    if(
        bool_or(get_json_object(logs.value, '$.cdc.path') is not null),
        coalesce(max(int(get_json_object(logs.value, '$.commitInfo.readVersion'))), 0),
        null
    ) as read
{{ dbt_delta._logs_of_tables() }}
where logs.file rlike '/[0-9]{20}[.]json$' and not startswith(logs.value, '{"add"')
group by all
{%- endmacro %}
