{# What logs say about their tables, for _state. #}
{% macro _states_sql(logs, checkpoints) -%}
{{ dbt_delta._files_sql(logs, checkpoints) }},
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
    -- A deletion vector is newer than its data file, but the log has only the time of the data file.
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

{# The files that left a table before a time, as VACUUM names them. #}
{% macro _removable_sql(logs, checkpoints, time) -%}
{{ dbt_delta._files_sql(logs, checkpoints) }}
select key as path from files where kind = 'gone' and own.time < {{ time | int }} order by key
{%- endmacro %}

{#
    Tables with their states, from rows of _states_sql, and the `problem` of an unreadable log. A table with an
    unreadable log may be a shallow clone: it is a pin that keeps the files of all tables.
#}
{% macro _tables_of_rows(tables, rows, problems) -%}
    {%- set rows_of, unknown, known, done = {}, [], [], [] -%}
    {%- for row in rows -%}{%- do rows_of.setdefault(row['id'] | int, []).append(row) -%}{%- endfor -%}
    {%- for table in tables if table.id in problems -%}
        {%- do unknown.append({
            'who': dbt_delta._bare(table.relation),
            'unknown': 'may be a shallow clone: its log cannot be read (' ~ problems[table.id] ~ ')',
        }) -%}
    {%- endfor -%}
    {%- for table in tables -%}
        {%- set state = dbt_delta._state(rows_of[table.id])
            if table.id in rows_of and table.id not in problems else none -%}
        {%- do known.append(dict(table, pins=table.pins + unknown, state=state, problem=problems.get(table.id))) -%}
    {%- endfor -%}
    {#- A claim contains the table of its clone, without the claims on that table. -#}
    {%- for table in known -%}
        {%- set state = none if table.state is none
            else dict(table.state, claims=dbt_delta._claims(rows_of[table.id], known)) -%}
        {%- do done.append(dict(table, state=state)) -%}
    {%- endfor -%}
    {{- return(done) -}}
{%- endmacro %}

{# Why rows of _states_sql are not all that the log of a table had, {text, is_certain}; the text may be empty. #}
{% macro _log_fault(table, rows) -%}
    {%- set versions = [] -%}
    {%- for row in rows if row['id'] | int == table.id and row['kind'] in ('broken', 'operation') -%}
        {%- if row['kind'] == 'broken' -%}
            {{- return({'text': 'version ' ~ row['text'] ~ ' is not valid JSON', 'is_certain': true}) -}}
        {%- endif -%}
        {%- for commit in fromjson(row['commits']) -%}{%- do versions.append(commit.version | int) -%}{%- endfor -%}
    {%- endfor -%}
    {%- for version in (range(versions | min, versions | max) if versions else []) if version not in versions -%}
        {{- return({'text': 'version ' ~ version ~ ' is missing', 'is_certain': false}) -}}
    {%- endfor -%}
    {{- return({'text': '', 'is_certain': false}) -}}
{%- endmacro %}

{# What to say about a table without a state. #}
{% macro _log_problem(table) -%}
    {{- return('its log cannot be read' ~ (' (' ~ table.problem ~ ')' if table.problem else '')) -}}
{%- endmacro %}

{#
    The state of a table according to its log, from rows of _states_sql; times are milliseconds since 1970:
    - `version`, `configuration` (its properties), `columns`, `partitions`, `clustering`;
    - `parts`: the partitions of the newest version, in the order of their keys; see _part;
    - `gone`: {time, bytes} of files that left the table, by the hour;
    - `claims`: see _claims;
    - `commits`: the time of each version in the log; `operations`: the last commit of each operation;
    - `now`: the server's time.
#}
{% macro _state(rows) -%}
    {%- set said, parts, gone, operations, commits = {}, [], [], {}, {} -%}
    {%- for row in rows if row['kind'] in ('about', 'clustering') -%}
        {%- do said.update({row['kind']: fromjson(row['text'] or '{}')}) -%}
    {%- endfor -%}
    {%- set about = said.get('about', {}) -%}
    {%- set columns = fromjson(about.schemaString).fields if about else [] -%}
    {%- set names = dbt_delta._logical_names(columns) -%}
    {%- for row in rows -%}
        {%- if row['kind'] == 'live' -%}
            {%- do parts.append(dbt_delta._part(row, names)) -%}
        {%- elif row['kind'] == 'gone' -%}
            {%- do gone.append({'time': row['time'] | int, 'bytes': (row['bytes'] or 0) | int}) -%}
        {%- elif row['kind'] == 'operation' -%}
            {%- do operations.update({row['key']: fromjson(row['text'])}) -%}
            {%- for commit in fromjson(row['commits']) -%}
                {%- do commits.update({commit.version | int: commit.time | int}) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set clustering = [] -%}
    {%- for path in said.get('clustering', {}).get('clusteringColumns', []) -%}
        {%- do clustering.append(([names.get(path[0], path[0])] + path[1:]) | join('.')) -%}
    {%- endfor -%}
    {#- Spark returns partitions in an order that differs from run to run. -#}
    {{- return({
        'version': commits.keys() | max if commits else none,
        'configuration': about.get('configuration', {}), 'partitions': about.get('partitionColumns', []),
        'columns': columns, 'clustering': clustering,
        'parts': parts | sort(attribute='key', case_sensitive=true),
        'gone': gone, 'claims': [], 'commits': commits, 'operations': operations, 'now': rows[0]['now'] | int,
    }) -}}
{%- endmacro %}

{# The names that the files have for columns, by the columns' names in lower case. #}
{% macro _physical_names(columns) -%}
    {%- set names = {} -%}
    {%- for physical, name in dbt_delta._logical_names(columns).items() -%}
        {%- do names.update({name | lower: physical}) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{# With column mapping the log has other names for columns; they are replaced by the names of the schema. #}
{% macro _logical_names(columns) -%}
    {%- set names = {} -%}
    {%- for column in columns -%}
        {%- do names.update({column.metadata.get('delta.columnMapping.physicalName', column.name): column.name}) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{#
    A partition: {key, values, files, bytes, small_files, small_bytes, rows, deleted_rows, deleted_bytes,
    unclustered_files, unclustered_bytes, unsorted_files, unsorted_bytes}; deleted_bytes is the size of the files in
    which deletion vectors hide rows.
#}
{% macro _part(row, names) -%}
    {%- set values, numbers = {}, {} -%}
    {%- for name, value in fromjson(row['key']).items() -%}
        {%- do values.update({names.get(name, name): value}) -%}
    {%- endfor -%}
    {%- for name in (
        'files', 'bytes', 'small_files', 'small_bytes', 'rows', 'deleted_rows', 'deleted_bytes',
        'unclustered_files', 'unclustered_bytes', 'unsorted_files', 'unsorted_bytes',
    ) -%}
        {%- do numbers.update({name: (row[name] or 0) | int}) -%}
    {%- endfor -%}
    {{- return(dict(numbers, key=row['key'], values=values)) -}}
{%- endmacro %}

{#
    The data files and deletion vectors of a table that a shallow clone has, or had until `left`: {time, table,
    is_live, left}. `table` is the clone; `is_live` says whether the table itself still has them; since `time` a
    VACUUM might remove one of them.
#}
{% macro _claims(rows, tables) -%}
    {%- set claims = [] -%}
    {%- for row in rows if row['kind'] == 'claim' -%}
        {%- set about = fromjson(row['key']) -%}
        {%- if tables[about.claimant].state is not none -%}{%- do claims.append({
            'time': row['time'] | int, 'table': tables[about.claimant], 'is_live': about.is_live,
            'left': (about.hour + 1) * 3600000 if about.hour is defined else none,
            }) -%}{%- endif -%}
    {%- endfor -%}
    {{- return(claims) -}}
{%- endmacro %}
