{#
    The state of Delta tables as their logs have it, of all in three statements or four: no data file
    is opened, no table loaded. Takes tables as _catalog_tables gives them; of each, `state` becomes
    {version, configuration, columns, partitions, clustering, parts, gone, claims, commits, operations},
    or none where the log cannot be read:
    - `parts`: for each partition of the newest version, in the order of `key`, {key, values, files,
      bytes, small_files, small_bytes, rows, deleted_rows, deleted_bytes, unclustered_files,
      unclustered_bytes, unsorted_files, unsorted_bytes}; deleted_bytes is that of files of which
      deletion vectors hide rows;
    - `gone`: {time, bytes} of files that left the table, by the hour;
    - `claims`: {time, table, is_live, left} of data files and deletion vectors of the table that a shallow
      clone has, or had until `left`: the table of the clone, whether this one has them still, and the time
      since when a VACUUM might take one of them;
    - `commits`: the time of each version in the log; `operations`: the last commit of each operation;
    - `now`: the server's time.
    Times are milliseconds since 1970.
#}
{% macro _read_states(tables) -%}
    {%- for table in tables -%}{%- do table.update({'id': loop.index0, 'state': none}) -%}{%- endfor -%}
    {%- set logs = dbt_delta._readable_logs(tables) -%}
    {%- if not logs -%}{{- return('') -}}{%- endif -%}
    {%- for table in tables if table.problem is defined -%}
        {%- for other in tables -%}
            {%- do other.pins.append({
                'who': dbt_delta._bare(table.relation),
                'unknown': 'may be a shallow clone: its log cannot be read (' ~ table.problem ~ ')',
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for row in run_query(dbt_delta._states_sql(tables, logs, dbt_delta._checkpoints(logs))).rows -%}
        {%- set table = tables[row['id'] | int] -%}
        {%- if table.state is none -%}
            {%- do table.update({'state': {
                'version': none, 'configuration': {}, 'columns': [], 'partitions': [], 'clustering': [],
                'parts': [], 'gone': [], 'claims': [], 'commits': {}, 'operations': {}, 'now': row['now'] | int,
            }}) -%}
        {%- endif -%}
        {%- do dbt_delta._take_row(table.state, row, tables) -%}
    {%- endfor -%}
    {%- for table in tables if table.state is not none -%}
        {%- do dbt_delta._name_columns(table.state) -%}
        {#- Spark gives them in any order, which differs from run to run. #}
        {%- do table.state.update({'parts': table.state.parts | sort(attribute='key', case_sensitive=true)}) -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _take_row(state, row, tables) -%}
    {%- set kind, key = row['kind'], row['key'] -%}
    {%- if kind == 'live' -%}
        {%- set part = {'key': key, 'values': fromjson(key)} -%}
        {%- for name in (
            'files', 'bytes', 'small_files', 'small_bytes', 'rows', 'deleted_rows', 'deleted_bytes',
            'unclustered_files', 'unclustered_bytes', 'unsorted_files', 'unsorted_bytes',
        ) -%}
            {%- do part.update({name: (row[name] or 0) | int}) -%}
        {%- endfor -%}
        {%- do state.parts.append(part) -%}
    {%- elif kind == 'gone' -%}
        {%- do state.gone.append({'time': row['time'] | int, 'bytes': (row['bytes'] or 0) | int}) -%}
    {%- elif kind == 'claim' -%}
        {%- set about = fromjson(key) -%}
        {%- do state.claims.append({
            'time': row['time'] | int, 'table': tables[about.claimant], 'is_live': about.is_live,
            'left': (about.hour + 1) * 3600000 if about.hour is defined else none,
        }) -%}
    {%- elif kind == 'operation' -%}
        {%- do state.operations.update({key: fromjson(row['text'])}) -%}
        {%- for commit in fromjson(row['commits']) -%}
            {%- do state.commits.update({commit.version | int: commit.time | int}) -%}
        {%- endfor -%}
        {%- do state.update({'version': state.commits.keys() | max}) -%}
    {%- elif kind == 'clustering' -%}
        {%- do state.update({'clustering': fromjson(row['text']).get('clusteringColumns', [])}) -%}
    {%- else -%}
        {%- set about = fromjson(row['text']) -%}
        {%- do state.update({
            'configuration': about.get('configuration', {}),
            'partitions': about.get('partitionColumns', []),
            'columns': fromjson(about.schemaString).fields,
        }) -%}
    {%- endif -%}
{%- endmacro %}

{# With column mapping the log has other names for columns; those of the schema take their place. #}
{% macro _name_columns(state) -%}
    {%- set names = {} -%}
    {%- for column in state.columns -%}
        {%- do names.update({column.metadata.get('delta.columnMapping.physicalName', column.name): column.name}) -%}
    {%- endfor -%}
    {%- for part in state.parts -%}
        {%- set values = {} -%}
        {%- for name, value in part['values'].items() -%}
            {%- do values.update({names.get(name, name): value}) -%}
        {%- endfor -%}
        {%- do part.update({'values': values}) -%}
    {%- endfor -%}
    {%- set clustering = [] -%}
    {%- for path in state.clustering -%}
        {%- do clustering.append(([names.get(path[0], path[0])] + path[1:]) | join('.')) -%}
    {%- endfor -%}
    {%- do state.update({'clustering': clustering}) -%}
{%- endmacro %}

{#
    The logs of tables, those of one warehouse as one: {parent, tables}. Spark reads no path of which
    nothing is there, so they are tried first. Where it cannot read what is there, tables get a `problem`.
#}
{% macro _readable_logs(tables) -%}
    {%- set parents = {} -%}
    {%- for table in tables -%}
        {%- do parents.setdefault(dbt_delta._warehouse(table), []).append(table) -%}
    {%- endfor -%}
    {%- set logs = [] -%}
    {%- for parent, found in parents.items() -%}
        {%- set log = {'parent': parent, 'tables': found} -%}
        {%- set problem = dbt_delta._attempt(
            'select 1 from text.' ~ dbt_delta._log_files(log, '*.json') ~ ' limit 0'
        ).problem -%}
        {%- if not problem -%}
            {%- do logs.append(log) -%}
        {%- elif 'PATH_NOT_FOUND' not in problem -%}
            {%- for table in found -%}{%- do table.update({'problem': problem}) -%}{%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(logs) -}}
{%- endmacro %}

{# The folder of a table's schema's folder. #}
{% macro _warehouse(table) -%}
    {{- return(table.location.rpartition('/')[0].rpartition('/')[0]) -}}
{%- endmacro %}

{# Files in the logs of several tables as Spark reads them. #}
{% macro _log_files(log, names) -%}
    {%- set paths = [] -%}
    {%- for table in log.tables -%}
        {%- do paths.append(dbt_delta._plain_glob(dbt_delta._log_folder(log, table)) ~ names) -%}
    {%- endfor -%}
    {{- return(dbt_delta._any_path(log.parent, paths)) -}}
{%- endmacro %}

{# The lines of logs, each with the path of its file. #}
{% macro _log_lines(log) -%}
    {{- return('select _metadata.file_path as file, value from text.' ~ dbt_delta._log_files(log, '*.json')) -}}
{%- endmacro %}

{% macro _log_folder(log, table) -%}
    {{- return(table.location[log.parent | length + 1:] ~ '/_delta_log/') -}}
{%- endmacro %}

{# `/parent/{a/x,b/y}`: a path cannot begin with the brace. #}
{% macro _any_path(parent, paths) -%}
    {{- return(dbt_delta._quoted(dbt_delta._plain_glob(parent) ~ '/{' ~ paths | join(',') ~ '}')) -}}
{%- endmacro %}

{# A path of which no character stands for others. #}
{% macro _plain_glob(path) -%}
    {{- return(modules.re.sub('([][{}*?,\\\\])', '\\\\\\1', path)) -}}
{%- endmacro %}

{# A path in a log as the catalog has it: not encoded, with one slash after file:. #}
{% macro _plain_path(path) -%}
    {{- return(
        "regexp_replace(url_decode(replace(" ~ path ~ ", '+', '%2B')), '^file:/+', 'file:/')"
    ) -}}
{%- endmacro %}

{# The files of tables and what else the logs say last, as the CTEs of a statement, the last being `files`. #}
{% macro _files_sql(tables, logs, checkpoints) -%}
    {%- set lines, known, sorted = [], [], tables | selectattr('zorder') | list -%}
    {%- for log in logs -%}
        {%- do lines.append(dbt_delta._log_lines(log)) -%}
        {%- for table in log.tables -%}
            {%- do known.append('(' ~ [
                table.id, dbt_delta._literal(table.location), table.thresholds.small_file_bytes,
                dbt_delta._literal(tojson(table.zorder)),
            ] | join(', ') ~ ')') -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for source in checkpoints -%}{%- do lines.append(dbt_delta._checkpoint_lines(source)) -%}{%- endfor -%}
    {%- set vector = 'struct<storageType string, pathOrInlineDv string, offset int, cardinality bigint>' %}
with logs as (
    {{ lines | join('\n    union all\n    ') }}
),
tables (id, location, small, zorder) as (
    values {{ known | join(', ') }}
),
lines as (
    select
        tables.*,
        bigint(regexp_extract(logs.file, '/([0-9]{20})[.][^/]*$', 1)) as version,
        from_json(
            logs.value,
            'add struct<path string, partitionValues map<string, string>, size bigint, modificationTime bigint,
                stats string, deletionVector {{ vector }}, clusteringProvider string>,
            remove struct<path string, deletionTimestamp bigint, size bigint, deletionVector {{ vector }}>,
            metaData struct<schemaString string, partitionColumns array<string>, configuration map<string, string>>,
            domainMetadata struct<domain string, configuration string, removed boolean>,
            commitInfo struct<timestamp bigint, inCommitTimestamp bigint, operation string,
                operationParameters map<string, string>, operationMetrics map<string, string>>'
        ) as line
    from logs
    inner join tables
        on {{ dbt_delta._plain_path("regexp_extract(logs.file, '^(.*)/_delta_log/', 1)") }} = tables.location
    where logs.file rlike '/[0-9]{20}([.]json|[.]checkpoint[.].*)$'
),
actions as (
    select
        id, location, small, version,
        line.add.path is not null as is_live,
        case
            when coalesce(line.add.path, line.remove.path) is not null then 'file'
            when line.metaData.schemaString is not null then 'about'
            when line.domainMetadata.domain = 'delta.clustering' then 'clustering'
            when line.commitInfo.operation is not null then 'operation'
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
        end as text,
        coalesce(line.commitInfo.inCommitTimestamp, line.commitInfo.timestamp) as committed_at,
        {% if sorted -%}
            coalesce(max(line.commitInfo.operationParameters['zOrderBy'] = zorder) over (partition by id, version), false)
        {%- else -%} false {%- endif %} as is_sorted
    from lines
),
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
-- What VACUUM removes or leaves: data files, and files of deletion vectors.
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
),
-- The files of other tables that a shallow clone has, or had, are claimed there.
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
    The file that holds a deletion vector: the log has 16 bytes of its name as 20 characters of Z85, after a
    folder; or the path of another table's; or the vector itself, which is no file.
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

{% macro _removable_sql(table, time) -%}
{%- set log = {'parent': dbt_delta._warehouse(table), 'tables': [table]} -%}
{{ dbt_delta._files_sql([table], [log], dbt_delta._checkpoints([log])) }}
select key as path from files where kind = 'gone' and own.time < {{ time | int }} order by key
{%- endmacro %}

{% macro _states_sql(tables, logs, checkpoints) -%}
{{ dbt_delta._files_sql(tables, logs, checkpoints) }},
-- Each file, and each claim on it.
entries as (
    select * except (kind, claims), if(claim is null, kind, 'claim') as kind, own.is_live is true as is_live
    from files
    lateral view explode(array_prepend(claims, null)) one as claim
    where claim is not null or kind not in ('vector', 'unknown')
)
select
    id,
    kind,
    case kind
        when 'live' then to_json(
            map_from_entries(array_sort(map_entries(own.part))), map('ignoreNullFields', 'false')
        )
        when 'gone' then string(own.time div 3600000)
        when 'claim' then to_json(struct(
            claim.claimant, is_live, if(claim.is_live, null, claim.time div 3600000) as hour
        ))
        else key
    end as key,
    count(*) as files,
    sum(own.size) as bytes,
    count_if(own.size < small) as small_files,
    sum(own.size) filter (where own.size < small) as small_bytes,
    sum(own.row_count) as rows,
    sum(own.deleted_rows) as deleted_rows,
    sum(own.size) filter (where own.deleted_rows > 0) as deleted_bytes,
    count_if(not own.is_clustered) as unclustered_files,
    sum(own.size) filter (where not own.is_clustered) as unclustered_bytes,
    count_if(not is_sorted) as unsorted_files,
    sum(own.size) filter (where not is_sorted) as unsorted_bytes,
    -- A deletion vector was made later than its data file, of which alone the log says when.
    if(kind = 'claim', min(if(
        is_vector, coalesce(if(is_live, null, own.time), claim.made_at, made_at, 0),
        coalesce(claim.made_at, made_at, if(is_live, null, own.time), 0)
    )), max(own.time)) as time,
    max(own.text) as text,
    max(commits) as commits,
    unix_millis(current_timestamp()) as now
from entries
group by all
{%- endmacro %}
