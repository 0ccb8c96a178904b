{# The newest state of the files of tables, and what else the logs say, as CTEs; the last one is `files`. #}
{% macro _files_sql(logs, checkpoints) -%}
{{ dbt_delta._lines_sql(logs, checkpoints) }},
{{ dbt_delta._actions_sql(logs | map(attribute='tables') | sum(start=[]) | selectattr('zorder') | list) }},
{{ dbt_delta._latest_sql() }},
{{ dbt_delta._claims_sql() }}
{%- endmacro %}

{# The lines of the logs as Delta's actions, with their tables: the CTE `lines`. #}
{% macro _lines_sql(logs, checkpoints) -%}
{%- set vector = 'struct<storageType string, pathOrInlineDv string, offset int, cardinality bigint>' -%}
{{ dbt_delta._logs_sql(logs, checkpoints, limits=true) }},
lines as (
    select
        tables.*,
        {{ dbt_delta._file_version('logs.file') }} as version,
        from_json(
            logs.value,
            'add struct<path string, partitionValues map<string, string>, size bigint, modificationTime bigint,
                stats string, deletionVector {{ vector }}, clusteringProvider string>,
            remove struct<path string, deletionTimestamp bigint, size bigint, deletionVector {{ vector }}>,
            metaData struct<schemaString string, partitionColumns array<string>, configuration map<string, string>>,
            domainMetadata struct<domain string, configuration string, removed boolean>,
            commitInfo struct<timestamp bigint, inCommitTimestamp bigint, operation string,
                operationParameters map<string, string>, operationMetrics map<string, string>>, __dbt_corrupt string',
                        map('columnNameOfCorruptRecord', '__dbt_corrupt')
                    ) as line
    {{ dbt_delta._logs_of_tables() }}
    where {{ dbt_delta._is_log_file('logs.file') }}
)
{%- endmacro %}

{# What each line says about a file, the table, or a commit: the CTE `actions`. #}
{% macro _actions_sql(is_sorted) -%}
actions as (
    select
        id, location, small, version,
        line.add.path is not null as is_live,
        case
            when coalesce(line.add.path, line.remove.path) is not null then 'file'
            when line.metaData.schemaString is not null then 'about'
            when line.domainMetadata.domain = 'delta.clustering' then 'clustering'
            when line.commitInfo.operation is not null then 'operation'
                when get_json_object(coalesce(line.__dbt_corrupt, '{}'), '$') is null then 'broken'
            end as kind,
        coalesce(
            {{ dbt_delta._plain_path('coalesce(line.add.path, line.remove.path)') }}, line.commitInfo.operation, ''
        ) as key,
        coalesce(line.add.deletionVector, line.remove.deletionVector) as vector,
        coalesce(line.add.size, line.remove.size) as size,
        coalesce(line.add.modificationTime, line.remove.deletionTimestamp) as time,
        line.add.clusteringProvider is not null as is_clustered,
        line.add.partitionValues as part,
        bigint(get_json_object(line.add.stats, '$.numRecords')) as row_count,
        line.add.deletionVector.cardinality as deleted_rows,
        case
            when line.metaData.schemaString is not null then to_json(line.metaData)
            when line.domainMetadata.domain is not null and not line.domainMetadata.removed
                then line.domainMetadata.configuration
            when line.commitInfo.operation is not null then to_json(line.commitInfo)
                else string(version)
            end as text,
        coalesce(line.commitInfo.inCommitTimestamp, line.commitInfo.timestamp) as committed_at,
        {% if is_sorted -%}
            coalesce(max(line.commitInfo.operationParameters['zOrderBy'] = zorder) over (partition by id, version), false)
        {%- else -%} false {%- endif %} as is_sorted
    from lines
)
{%- endmacro %}

{# The newest state of each file, and of each file that VACUUM may remove: the CTE `paths`. #}
{% macro _latest_sql() -%}
-- A file with a new deletion vector leaves the table and comes back in one commit.
latest as (
    select
        id, location, small, kind, key,
        max_by(struct(is_live, size, time, is_clustered, part, row_count, deleted_rows, text), version) as last,
        max(is_live and is_sorted) as is_sorted,
        min(time) filter (where is_live) as made_at,
        to_json(array_agg(if(kind = 'operation', struct(version, committed_at as time), null))) as commits,
        first(vector) as vector
    from actions
    where kind is not null
    group by id, location, small, kind, key, vector.pathOrInlineDv, vector.offset
),
-- What VACUUM removes or keeps: data files, and files of deletion vectors.
units as (
    select
        id, location, small, last, is_sorted, made_at, commits,
        inline(filter(
            array(struct(kind, key), if(vector_file is null, null, struct('vector' as kind, vector_file as key))),
            unit -> unit is not null
        ))
    from (select *, {{ dbt_delta._vector_file('vector') }} as vector_file from latest)
),
paths as (
    select
        id, small, kind, key,
        max_by(last, struct(last.is_live, last.time)) as last, max(is_sorted) as is_sorted,
        min(made_at) as made_at, max(commits) as commits
    from units
    group by id, small, kind, key
)
{%- endmacro %}

{# The table that owns each file: the CTE `files`. #}
{% macro _claims_sql() -%}
-- A shallow clone claims the files of other tables that it has, or had.
claims as (
    select inline(filter(array(
        struct(
            paths.id, paths.kind, paths.key, paths.small, paths.last, paths.is_sorted, paths.made_at, paths.commits,
            int(null) as claimant
        ),
        struct(
            owners.id, paths.kind, substring(paths.key, length(owners.location) + 2) as key, paths.small,
            paths.last, paths.is_sorted, paths.made_at, paths.commits, paths.id as claimant
        )
    ), one -> one.id is not null))
    from paths
    left join tables as owners
        on paths.kind in ('file', 'vector') and paths.key rlike '^[A-Za-z][A-Za-z0-9+.-]*:/'
        and startswith(paths.key, owners.location || '/') and owners.id != paths.id
),
files as (
    select
        id, key, max(small) as small, max(is_sorted) as is_sorted, max(commits) as commits,
        kind = 'vector' as is_vector,
        first(last) filter (where claimant is null) as own,
        min(made_at) filter (where claimant is null) as made_at,
        array_agg(struct(claimant, last.is_live, last.time, made_at)) filter (where claimant is not null) as claims,
        case
            when kind not in ('file', 'vector') then kind
            when count_if(claimant is null) = 0 then 'unknown'
            when kind = 'vector' then 'vector'
            when max(last.is_live) filter (where claimant is null) then 'live'
            else 'gone'
        end as kind
    from claims
    group by id, claims.kind, key
)
{%- endmacro %}

{#
    The file of a deletion vector. The log has 16 bytes of its name as 20 characters of Z85, after a folder; or the
    path of another table's file; or the vector itself, which needs no file.
#}
{% macro _vector_file(vector) -%}
    {%- set path, words = vector ~ '.pathOrInlineDv', [] -%}
    {%- set digits = "'0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#'" -%}
    {%- for word in range(4) -%}
        {%- set value = namespace(sql='0L') -%}
        {%- for digit in range(5) -%}
            {%- set value.sql = '(' ~ value.sql ~ ' * 85 + instr(' ~ digits ~ ', substring(' ~ path ~ ', '
                ~ (word * 5 + digit - 20) ~ ', 1)) - 1)' -%}
        {%- endfor -%}
        {%- do words.append("lpad(lower(hex(" ~ value.sql ~ ")), 8, '0')") -%}
    {%- endfor -%}
case {{ vector }}.storageType
            when 'p' then {{ dbt_delta._plain_path(path) }}
            when 'u' then if(length({{ path }}) > 20, left({{ path }}, length({{ path }}) - 20) || '/', '')
                || regexp_replace(
                    {{ words | join(' || ') }},
                    '(.{8})(.{4})(.{4})(.{4})(.{12})', 'deletion_vector_$1-$2-$3-$4-$5.bin'
                )
        end
{%- endmacro %}
