{#
    Tables as _catalog_tables returns them, each with its `state`, as _state returns it, or none if its log cannot be
    read. Three or four statements read all of them; no data file is opened and no table is loaded.
#}
{% macro _read_states(tables) -%}
    {%- set found = dbt_delta._read_logs(tables, 'states') -%}
    {%- set problems = dict(found.problems) -%}
    {%- for table in tables -%}
        {%- set fault = dbt_delta._log_fault(table, found.rows) -%}
        {#- A writer may leave out what names a version: then Delta decides. -#}
        {%- if fault.text and (fault.is_certain
            or dbt_delta._attempt('select 1 from ' ~ dbt_delta._named(table.relation) ~ ' limit 0').problem) -%}
            {%- do problems.update({table.id: fault.text}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(dbt_delta._tables_of_rows(tables, found.rows, problems)) -}}
{%- endmacro %}

{#
    What the logs of tables say, in one statement: {rows, problems}. `problems` are the reasons, by the table's id,
    why a log cannot be read. If the statement fails, the tables are halved to find those that make it fail; the
    others are then read together, because clones and their sources need one another.
#}
{% macro _read_logs(tables, kind, since=none) -%}
    {%- set found, problems, left = dbt_delta._readable_logs(tables), {}, [] -%}
    {%- do problems.update(found.problems) -%}
    {%- set told = dbt_delta._log_rows(found.logs, kind, since) -%}
    {%- if told.problem -%}
        {%- set readable = found.logs | map(attribute='tables') | sum(start=[]) -%}
        {%- do problems.update(dbt_delta._broken_logs(readable, kind, told.problem, since)) -%}
        {%- for table in readable if table.id not in problems -%}{%- do left.append(table) -%}{%- endfor -%}
        {%- set again = dbt_delta._readable_logs(left) -%}
        {%- do problems.update(again.problems) -%}
        {%- set told = dbt_delta._log_rows(again.logs, kind, since) -%}
        {%- for table in left if told.problem -%}{%- do problems.update({table.id: told.problem}) -%}{%- endfor -%}
    {%- endif -%}
    {{- return({'rows': told.rows, 'problems': problems}) -}}
{%- endmacro %}

{# The reasons why tables cannot be read, by id: of tables that cannot be read together. #}
{% macro _broken_logs(tables, kind, problem, since=none) -%}
    {%- set half, broken = tables | length // 2, {} -%}
    {%- if not half -%}{{- return({tables[0].id: problem}) -}}{%- endif -%}
    {%- for part in (tables[:half], tables[half:]) -%}
        {%- set problem = dbt_delta._log_rows(dbt_delta._readable_logs(part).logs, kind, since).problem -%}
        {%- if problem -%}{%- do broken.update(dbt_delta._broken_logs(part, kind, problem, since)) -%}{%- endif -%}
    {%- endfor -%}
    {{- return(broken) -}}
{%- endmacro %}

{# What logs say, {rows, problem}; `kind` is states, removals or tagged; see _tagged_sql for `since`. #}
{% macro _log_rows(logs, kind, since=none) -%}
    {%- if not logs -%}{{- return({'rows': [], 'problem': ''}) -}}{%- endif -%}
    {%- if kind == 'tagged' -%}{{- return(dbt_delta._attempt(dbt_delta._tagged_sql(logs, since))) -}}{%- endif -%}
    {%- if kind == 'removals' -%}{{- return(dbt_delta._attempt(dbt_delta._removals_sql(logs))) -}}{%- endif -%}
    {%- set checkpoints = dbt_delta._checkpoints(logs) -%}
    {%- for source in checkpoints if source.problem -%}
        {{- return({'rows': [], 'problem': source.problem}) -}}
    {%- endfor -%}
    {{- return(dbt_delta._attempt(dbt_delta._states_sql(logs, checkpoints))) -}}
{%- endmacro %}

{#
    The logs of tables, as _log returns them, and the reasons why others cannot be read, by the table's id: {logs,
    problems}. Spark fails on a path without files, so each path is tried first.
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
    The newest checkpoints of logs that no longer begin with version 0, {from, file, columns, problem}: texts for FROM
    and for the path of the checkpoint, and why it cannot be read. A checkpoint of Delta's second format names files,
    in a folder beside it, with the rest.
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
                {#- A JSON checkpoint is read with the other lines of the log. -#}
                {%- if name.endswith('.parquet') -%}{%- do files.append(path) -%}{%- endif -%}
                {%- if name.count('.') == 3 -%}
                    {%- set parts = [] -%}
                    {%- set listed = dbt_delta._sidecars_sql(dbt_delta._any_path(log.parent, [path]), name) -%}
                    {%- set listing = dbt_delta._attempt(listed) -%}
                    {%- if listing.problem -%}{%- do sources.append({'problem': listing.problem}) -%}{%- endif -%}
                    {%- for row in listing.rows -%}
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
    {%- set problem = dbt_delta._attempt('select 1 from ' ~ text ~ ' limit 0').problem -%}
    {{- return({
        'from': text, 'file': file, 'problem': problem,
        'columns': [] if problem else dbt_delta._columns_of('select * from ' ~ text),
    }) -}}
{%- endmacro %}

{#
    Rows of files that no commit in between touched are equal. The log says which files were touched; if it is no
    longer complete, all rows are compared.
#}
{% macro _touched_files(relation, first, last) -%}
    {%- set location = run_query('describe detail ' ~ dbt_delta._named(relation)).rows[0]['location'] -%}
    {%- set commits = dbt_delta._commit_files_sql(location, first, last) -%}
    {%- set known = run_query('select count(distinct version) as versions from ' ~ commits).rows[0]['versions'] -%}
    {%- if known | int < last - first + 1 -%}{{- return({'kind': 'all'}) -}}{%- endif -%}
    {{- return({'kind': 'files', 'text': dbt_delta._touched_files_sql(commits)}) -}}
{%- endmacro %}

{#
    Whether Delta no longer knows files of versions within these hours: a checkpoint that was written while the
    table's retention was shorter does not name them, and VACUUM would remove them.
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
        ~ ' are missing in its checkpoints, because delta.deletedFileRetentionDuration was shorter before: VACUUM '
        ~ 'would remove them. Run VACUUM when these versions are older; set_retention protects later versions'
    ) -}}
{%- endmacro %}

{#
    The files that VACUUM would remove. Delta lists them if the hours are the table's retention; otherwise the log
    does.
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
