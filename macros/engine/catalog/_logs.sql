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

{#
    What of logs that no longer begin with version 0 the newest checkpoints hold, {from, file}: texts
    for FROM and for the path of the checkpoint. One of Delta's second format names the files, in a folder
    beside it, that hold the rest.
#}
{% macro _checkpoints(logs, always=false) -%}
    {%- set listings = [] -%}
    {%- for log in logs -%}
        {%- do listings.append('select path from binaryFile.' ~ dbt_delta._log_files(
            log, '{00000000000000000000.json,*.checkpoint.*}'
        )) -%}
    {%- endfor -%}
    {%- set paths = run_query(listings | join('\nunion all\n')).columns[0].values() -%}
    {%- set sources = [] -%}
    {%- for log in logs -%}
        {%- set files = [] -%}
        {%- for table in log.tables -%}
            {%- set names = [] -%}
            {%- for path in paths if path.startswith(table.location ~ '/_delta_log/') -%}
                {%- do names.append(path.rpartition('/')[2]) -%}
            {%- endfor -%}
            {%- set folder = dbt_delta._log_folder(log, table) -%}
            {%- for name in dbt_delta._newest_checkpoint(names, always) -%}
                {%- set path = dbt_delta._plain_glob(folder ~ name) -%}
                {#- One of JSON is read with the other lines of the log. -#}
                {%- if name.endswith('.parquet') -%}{%- do files.append(path) -%}{%- endif -%}
                {%- if name.count('.') == 3 -%}
                    {%- set parts = [] -%}
                    {%- set listed = dbt_delta._sidecars_sql(dbt_delta._any_path(log.parent, [path]), name) -%}
                    {%- for row in run_query(listed).rows -%}
                        {%- do parts.append(dbt_delta._plain_glob(folder ~ '_sidecars/' ~ row['name'])) -%}
                    {%- endfor -%}
                    {%- if parts -%}
                        {%- do sources.append({
                            'from': 'parquet.' ~ dbt_delta._any_path(log.parent, parts),
                            'file': dbt_delta._literal(table.location ~ '/_delta_log/' ~ name),
                        }) -%}
                    {%- endif -%}
                {%- endif -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- if files -%}
            {%- do sources.append({
                'from': 'parquet.' ~ dbt_delta._any_path(log.parent, files), 'file': '_metadata.file_path',
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(sources) -}}
{%- endmacro %}

{#
    Rows of files that no commit between touched are equal. Which files were is read in the log; where
    that is not whole any more, all rows are compared.
#}
{% macro _touched_files(relation, first, last) -%}
    {%- set location = run_query('describe detail ' ~ dbt_delta._named(relation)).rows[0]['location'] -%}
    {%- set log = 'text.' ~ dbt_delta._quoted(dbt_delta._plain_glob(location) ~ '/_delta_log/*.json') -%}
    {%- set entries -%}
        (
            select
                from_json(value, 'add struct<path string>, remove struct<path string>') as entry,
                cast(substring(_metadata.file_name, 1, 20) as bigint) as version
            from {{ log }}
            where _metadata.file_name rlike '^[0-9]{20}[.]json$'
        ) as entries
        where version between {{ first }} and {{ last }}
    {%- endset -%}
    {%- set known = run_query('select count(distinct version) as versions from ' ~ entries).rows[0]['versions'] -%}
    {%- if known | int < last - first + 1 -%}{{- return({'kind': 'all'}) -}}{%- endif -%}
    {{- return({
        'kind': 'files',
        'text': "select substring_index(coalesce(entry.add.path, entry.remove.path), '/', -1) from " ~ entries
            ~ ' and coalesce(entry.add.path, entry.remove.path) is not null',
    }) -}}
{%- endmacro %}

{#
    Whether files of versions within the hours are unknown to Delta: a checkpoint that was written while
    the table's retention was shorter names them no more, and VACUUM would remove them.
#}
{% macro _untracked(table, hours) -%}
    {%- set log = {'parent': dbt_delta._warehouse(table), 'tables': [table]} -%}
    {%- set checkpoints = dbt_delta._checkpoints([log], always=true) -%}
    {%- if not checkpoints -%}{{- return(none) -}}{%- endif -%}
    {%- set found = run_query(
        dbt_delta._untracked_sql(log, checkpoints, table.state.now - hours * 3600000)
    ).rows[0]['files'] | int -%}
    {{- return(none if not found else
        dbt_delta._files(found) ~ ' of versions younger than ' ~ dbt_delta._hours_text(hours)
        ~ ' left its checkpoints, as delta.deletedFileRetentionDuration was shorter then: VACUUM would remove them. '
        ~ 'It can run once those versions are older; set_retention keeps later ones'
    ) -}}
{%- endmacro %}

{#
    The files that VACUUM would remove: as Delta lists them where the hours are the table's retention,
    else as the log has them.
#}
{% macro _removable(table, hours) -%}
    {%- if hours == table.floor.property_hours -%}
        {{- return(run_query('vacuum ' ~ dbt_delta._named(table.relation) ~ ' dry run').columns[0].values() | list) -}}
    {%- endif -%}
    {%- set time = table.state.now - hours * 3600000 -%}
    {{- return(run_query(dbt_delta._removable_sql(table, time)).columns[0].values() | list) -}}
{%- endmacro %}
