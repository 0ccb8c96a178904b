{# Counts the files that left a table since a time and that its newest checkpoint and later commits do not name. #}
{% macro _untracked_sql(log, checkpoints, time) -%}
    {%- set lines = ['select *, false as is_checkpoint from (' ~ dbt_delta._log_lines(log) ~ ')'] -%}
    {%- for source in checkpoints -%}
        {%- do lines.append('select *, true as is_checkpoint from (' ~ dbt_delta._checkpoint_lines(source) ~ ')') -%}
    {%- endfor -%}
with lines as (
    select
        is_checkpoint,
        {{ dbt_delta._file_version('file') }} as version,
        from_json(
            value,
            'add struct<path string, deletionVector struct<storageType string, pathOrInlineDv string>>,
            remove struct<path string, deletionTimestamp bigint,
                deletionVector struct<storageType string, pathOrInlineDv string>>'
        ) as line
    from (
        {{ lines | join('\n        union all\n        ') }}
    )
    where {{ dbt_delta._is_log_file('file') }}
),
paths as (
    select
        path,
        max(line.remove.deletionTimestamp) as deleted_at,
        bool_or(is_checkpoint or version > checkpoint.newest) as is_tracked
    from lines
    cross join (select max(version) as newest from lines where is_checkpoint) as checkpoint
    lateral view explode(array(coalesce(line.add.deletionVector, line.remove.deletionVector))) two as vector
    -- A deletion vector may be removed while its data file stays.
    lateral view explode(array(
        coalesce(line.add.path, line.remove.path),
        if(vector.storageType = 'u', vector.pathOrInlineDv, null)
    )) one as path
    group by 1
)
select count(*) as files from paths where path is not null and deleted_at >= {{ time | int }} and not is_tracked
{%- endmacro %}
