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

{% macro _removable_sql(table, time) -%}
{%- set log = {'parent': dbt_delta._warehouse(table), 'tables': [table]} -%}
{{ dbt_delta._files_sql([table], [log], dbt_delta._checkpoints([log])) }}
select key as path from files where kind = 'gone' and own.time < {{ time | int }} order by key
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
