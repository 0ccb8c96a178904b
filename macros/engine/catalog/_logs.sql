{#
    Tables as _catalog_tables gives them, each with its `state`, as _state has it, or none where its log cannot be
    read: of all in three statements or four. No data file is opened, no table loaded.
#}
{% macro _read_states(tables) -%}
    {%- set found, rows = dbt_delta._readable_logs(tables), [] -%}
    {%- if found.logs -%}
        {%- set sql = dbt_delta._states_sql(found.logs, dbt_delta._checkpoints(found.logs)) -%}
        {%- set rows = run_query(sql).rows -%}
    {%- endif -%}
    {{- return(dbt_delta._tables_of_rows(tables, rows, found.problems if found.logs else {})) -}}
{%- endmacro %}

{#
    The logs of tables, as _log has them, and why others cannot be read, by the table's id: {logs, problems}.
    Spark reads no path of which nothing is there, so they are tried first.
#}
{% macro _readable_logs(tables) -%}
    {%- set parents, logs, problems = {}, [], {} -%}
    {%- for table in tables -%}
        {%- do parents.setdefault(dbt_delta._warehouse(table), []).append(table) -%}
    {%- endfor -%}
    {%- for found in parents.values() -%}
        {%- set log = dbt_delta._log(found) -%}
        {%- set problem = dbt_delta._attempt(
            'select 1 from text.' ~ dbt_delta._log_files(log, '*.json') ~ ' limit 0'
        ).problem -%}
        {%- if not problem -%}
            {%- do logs.append(log) -%}
        {%- elif 'PATH_NOT_FOUND' not in problem -%}
            {%- for table in found -%}{%- do problems.update({table.id: problem}) -%}{%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({'logs': logs, 'problems': problems}) -}}
{%- endmacro %}

{#
    What of logs that no longer begin with version 0 the newest checkpoints hold, {from, file, columns}: texts
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
                        {%- do sources.append(dbt_delta._checkpoint_source(
                            log.parent, parts, dbt_delta._literal(table.location ~ '/_delta_log/' ~ name)
                        )) -%}
                    {%- endif -%}
                {%- endif -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- if files -%}
            {%- do sources.append(dbt_delta._checkpoint_source(log.parent, files, '_metadata.file_path')) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(sources) -}}
{%- endmacro %}

{% macro _checkpoint_source(parent, files, file) -%}
    {%- set text = 'parquet.' ~ dbt_delta._any_path(parent, files) -%}
    {{- return({'from': text, 'file': file, 'columns': dbt_delta._columns_of('select * from ' ~ text)}) -}}
{%- endmacro %}

{#
    Rows of files that no commit between touched are equal. Which files were is read in the log; where
    that is not whole any more, all rows are compared.
#}
{% macro _touched_files(relation, first, last) -%}
    {%- set location = run_query('describe detail ' ~ dbt_delta._named(relation)).rows[0]['location'] -%}
    {%- set commits = dbt_delta._commit_files_sql(location, first, last) -%}
    {%- set known = run_query('select count(distinct version) as versions from ' ~ commits).rows[0]['versions'] -%}
    {%- if known | int < last - first + 1 -%}{{- return({'kind': 'all'}) -}}{%- endif -%}
    {{- return({'kind': 'files', 'text': dbt_delta._touched_files_sql(commits)}) -}}
{%- endmacro %}

{#
    Whether files of versions within the hours are unknown to Delta: a checkpoint that was written while
    the table's retention was shorter names them no more, and VACUUM would remove them.
#}
{% macro _untracked(table, hours) -%}
    {%- set log = dbt_delta._log([table]) -%}
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
    {%- set logs = [dbt_delta._log([table])] -%}
    {{- return(run_query(
        dbt_delta._removable_sql(logs, dbt_delta._checkpoints(logs), time)
    ).columns[0].values() | list) -}}
{%- endmacro %}
