{# Landing files of an erasure: records of subjects are found in them, and files are written anew or removed. #}

{#
    The landing folders of an erasure, by their names in models: {path, format, separator, columns, tables}. `columns` are
    {name, group, kind}; `tables` are those of all models that read the folder: for each of them a file that was written
    anew would be a new one.
#}
{% macro _erased_folders(macro, tables) -%}
    {%- set folders, readers = {}, dbt_delta._landing_readers(macro) -%}
    {%- for table in tables if dbt_delta._is_ledger(table.existing.columns) -%}
        {%- set columns = [] -%}
        {%- for column in table.columns -%}
            {%- set there = dbt_delta._column(table.existing.columns, column.name) -%}
            {%- do columns.append({
                'name': there.name, 'group': column.group, 'kind': dbt_delta._key_kind(there.type),
            }) -%}
        {%- endfor -%}
        {%- for reader in readers if reader.table.schema == table.relation.schema
            and reader.table.identifier == table.relation.identifier -%}
            {%- for read in reader.reads -%}
                {%- set path, names = dbt_delta.landing_dir(read.folder), [] -%}
                {%- for other in readers -%}
                    {%- for its in other.reads if dbt_delta.landing_dir(its.folder) == path -%}
                        {%- do names.append(other.table) if other.table not in names -%}
                    {%- endfor -%}
                {%- endfor -%}
                {%- set known = folders.get(read.folder, {'columns': []}) -%}
                {%- do folders.update({read.folder: dict(read, columns=known.columns + columns, tables=names)}) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(folders) -}}
{%- endmacro %}

{#
    The tables of the project that are records of landed files, {table, reads}, and what their models land. One that does
    not say so in its code has it in `meta`.
#}
{% macro _landing_readers(macro) -%}
    {%- set readers, problems, schemas = [], [], dbt_delta._schemas() -%}
    {%- for node in dbt_delta._table_nodes()
        if node.config.materialized == 'incremental' and not node.config.get('unique_key') -%}
        {%- set relation = api.Relation.create(schema=node.schema, identifier=node.alias) -%}
        {%- set table = dbt_delta._existing(relation) if dbt_delta._is_there(relation, schemas) else none -%}
        {%- if table is not none and dbt_delta._is_ledger(table.columns) -%}
            {%- set given = (node.config.get('meta') or {}).get('landing') -%}
            {%- set found = adapter.dbt_delta_erasure().landed(node.raw_code) -%}
            {%- set reads = [dict({'separator': ','}, **given)] if given is mapping and given.folder and given.format
                else [] if given is false else found.reads -%}
            {%- if not reads and given is not false -%}
                {%- do problems.append(
                    'The code of ' ~ node.name ~ ' does not say which files it lands ('
                    ~ (found.problem or 'no call of landed_csv or landed_files') ~ '). Give it config: {meta: {landing: '
                    ~ '{folder: .., format: .., separator: ..}}}, or landing: false if it lands none'
                ) -%}
            {%- endif -%}
            {%- do readers.append({
                'table': {'schema': node.schema, 'identifier': node.alias}, 'reads': reads,
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_erasure(macro, problems) -%}
    {{- return(readers) -}}
{%- endmacro %}

{# The folders with `files`: those that have subjects, by their path, as landing.records in src returns them. #}
{% macro _searched_folders(macro, folders, subjects) -%}
    {%- set searched, erasure = {}, adapter.dbt_delta_erasure() -%}
    {%- for name, folder in folders.items() -%}
        {%- set path, paths, large, limit = dbt_delta.landing_dir(name), [], [], dbt_delta._whole_file_bytes() -%}
        {%- if erasure.exists(path) -%}
            {%- for file in dbt_delta._unseen_files(path, name.rpartition('://')[2].strip('/'), none, macro) -%}
                {%- do paths.append(file.path) -%}
                {%- do large.append(file.path) if file.bytes > limit -%}
            {%- endfor -%}
        {%- endif -%}
        {%- set known = dbt_delta._columns_of('select * from ' ~ dbt_delta._columnar_from(folder.format, path))
            if paths and folder.format in ('parquet', 'orc') else [] -%}
        {%- set all = dict(folder, path=path, paths=paths, large=large, known=known) -%}
        {%- do searched.update({name: dict(all, files=erasure.records(
            dbt_delta._landing_records_sql(all, erasure.words_sql('line')), folder.columns, subjects
        ) if paths else {})}) -%}
    {%- endfor -%}
    {{- return(searched) -}}
{%- endmacro %}

{# Why files cannot be written anew. #}
{% macro _rewrite_problems(folders) -%}
    {%- set problems = [] -%}
    {%- for name, folder in folders.items() if folder.files -%}
        {%- set why = 'has files of format ' ~ folder.format if folder.format not in ('csv', 'json', 'text')
            else 'has files of more than ' ~ dbt_delta._whole_file_bytes() ~ ' bytes (variable dbt_delta_whole_file_bytes)'
                if folder.large | select('in', folder.files) | list -%}
        {%- do problems.append(
            'The landing folder ' ~ name ~ ' ' ~ why ~ ', which rewrite does not change. Use landing: delete, or '
            ~ 'out_of_scope'
        ) if why -%}
    {%- endfor -%}
    {{- return(problems) -}}
{%- endmacro %}

{#
    Changes the landing files that have subjects. Tables have to know a file before it is there, so that no run between
    lands it.
#}
{% macro _erase_landing(plan, record) -%}
    {%- set erasure = adapter.dbt_delta_erasure() -%}
    {%- for name, folder in plan.folders.items() if folder.files -%}
        {%- set files = [] -%}
        {%- if record.landing.mode == 'rewrite' -%}
            {%- do files.extend(erasure.prepare(dbt_delta.landing_dir(name), folder.files)) -%}
            {%- for table in folder.tables -%}{%- do dbt_delta._know_files(table, files, record) -%}{%- endfor -%}
        {%- else -%}
            {%- for path, file in folder.files.items() -%}
                {%- do files.append({
                    'path': path, 'file': file.file, 'old_size': file.size, 'old_time': file.modified_at, 'part': none,
                }) -%}
            {%- endfor -%}
        {%- endif -%}
        {%- set changed = erasure.replace(files) -%}
        {%- do print(record.landing.mode ~ ' landing files of ' ~ name ~ ': ' ~ (files | length - changed | length)
            ~ (', not those that changed meanwhile: ' ~ changed | join(', ') if changed else '')) -%}
    {%- endfor -%}
{%- endmacro %}

{# Makes files known to the table that has loaded what they were written from. #}
{% macro _know_files(table, files, record) -%}
    {%- set new = dbt_delta._new_files_sql(table, files | rejectattr('part', 'none') | list) -%}
    {%- if new and dbt_delta._ask('select count(*) as row_count from (' ~ new ~ ')').rows[0]['row_count'] | int -%}
        {%- set columns = dbt_delta._ledger_columns()[:-1] -%}
        {%- call dbt_delta._tagging({'dbt_erased': record.request}) -%}
            {%- do dbt_delta._execute(
                'insert into ' ~ dbt_delta._named(table) ~ ' (' ~ columns | join(', ') ~ ') ' ~ new
            ) -%}
        {%- endcall -%}
    {%- endif -%}
{%- endmacro %}

{# The rows by which a table knows them: number 0 is that of a file that gave no rows. #}
{% macro _new_files_sql(table, files) -%}
    {%- if not files -%}{{- return('') -}}{%- endif -%}
    {%- set own, rows = dbt_delta._ledger_columns(), [] -%}
    {%- for one in files -%}
        {%- do rows.append(
            '(' ~ dbt_delta._literal(one.file) ~ ', ' ~ one.old_time ~ ', ' ~ one.old_size ~ ', ' ~ one.modified_at ~ ', '
            ~ one.size ~ ", '" ~ one.hash ~ "')"
        ) -%}
    {%- endfor -%}
    {%- set same = 'old.' ~ own[0] ~ ' = anew.name' -%}
    {{- return(
        'select anew.name, max(if(coalesce(old._line, 1) > 0, 1, 0)), timestamp_micros(max(anew.modified_at)), '
        ~ "max(anew.size), max(anew.hash), max(old._load_id), 'erased' from (values " ~ rows | join(', ')
        ~ ') as anew (name, old_time, old_size, modified_at, size, hash) inner join ' ~ dbt_delta._named(table)
        ~ ' as old on ' ~ same ~ ' and old._file_modified_at = timestamp_micros(anew.old_time) and old._file_size = '
        ~ 'anew.old_size where not exists (select 1 from ' ~ dbt_delta._named(table) ~ ' as old where ' ~ same
        ~ ' and old._file_modified_at = timestamp_micros(anew.modified_at) and old._file_size = anew.size) '
        ~ 'group by anew.name'
    ) -}}
{%- endmacro %}

{#
    The records of landing files: path, _file, modified_at, _file_size, _line, line_count, words, and k1, k2 .. for the
    columns. `words`, an expression of the words of `line`, is for records that do not say which column a value is of.
#}
{% macro _landing_records_sql(folder, words) -%}
{%- set is_unclear, keys = {'csv': ['is_odd'], 'json': ['fields is null']}.get(folder.format, []), [] -%}
{%- for column in folder.columns -%}
    {%- set name = dbt_delta._literal(column.name | lower) -%}
    {%- set value = {
        'csv': dbt_delta._csv_text('get(cells, cast(array_position(names, ' ~ name ~ ') as int) - 1)'),
        'json': 'fields[' ~ dbt_delta._literal(column.name) ~ ']', 'text': 'line',
    }.get(folder.format, 'v' ~ loop.index) -%}
    {%- set number = 'try_cast(' ~ value ~ ' as bigint)' -%}
    {%- do is_unclear.append('(' ~ value ~ ' is not null and ' ~ number ~ ' is null)') if column.kind == 'integer' -%}
    {%- do keys.append(
        'coalesce(cast(' ~ number ~ ' as string), ' ~ value ~ ')' if column.kind == 'integer' else value
    ) -%}
{%- endfor -%}
with {{ {'csv': dbt_delta._csv_records_sql, 'json': dbt_delta._line_records_sql, 'text': dbt_delta._line_records_sql}.get(
    folder.format, dbt_delta._columnar_records_sql
)(folder) }}

select
    path,
    _file,
    unix_micros(_file_modified_at) as modified_at,
    _file_size,
    _line,
    1 + length(line) - length(replace(line, '\n', '')) as line_count,
    {%- for key in keys %}
    {{ key }} as k{{ loop.index }},
    {%- endfor %}
    case when {{ is_unclear | join(' or ') or 'false' }} then {{ words }} else array() end as words
from records
{%- endmacro %}

{# The CTE `records` of CSV files, with the fields as they are written, and the names in the header in lower case. #}
{% macro _csv_records_sql(folder) -%}
{%- set lacking = [] -%}
{%- for column in folder.columns -%}
    {%- do lacking.append('not array_contains(names, ' ~ dbt_delta._literal(column.name | lower) ~ ')') -%}
{%- endfor -%}
{#- The first line is one with values if the file has no header. -#}
{%- set is_kept = '(position > 0 or ' ~ lacking | join(' or ') ~ ')' -%}
{{ dbt_delta._csv_files_sql(folder.path, folder.paths, folder.separator, folder.large) }},

judged as (

    select
        *,
        transform({{ dbt_delta._csv_names(folder.separator) }}, name -> lower(name)) as names,
        cast(null as string) as file_problem
    from files

),

lines as (

    select judged.* except (lines, is_utf8), is_utf8, position + 1 as _line, part.line as line
    from judged
    lateral view posexplode(lines) exploded as position, part
    where not is_large and not part.is_inside and {{ is_kept }}
    {{- dbt_delta._kept_large_lines_sql(is_kept) if folder.large }}

),

cut as (select *, {{ dbt_delta._csv_cells('line', folder.separator) }} as cells from lines),

records as (select *, {{ lacking | join(' or ') }} or size(cells) != size(names) as is_odd from cut)
{%- endmacro %}

{# The same of JSON and text files, with the fields of a JSON object. #}
{% macro _line_records_sql(folder) -%}
{{ dbt_delta._text_files_sql(folder.path, folder.paths, dbt_delta._cut_lines(), folder.large) }},

judged as (select *, cast(null as string) as file_problem from files),

{{ dbt_delta._kept_lines_sql(folder.large, 'true') }},

records as (

    select *, {{ "from_json(line, 'map<string,string>')" if folder.format == 'json' else 'null' }} as fields
    from lines

)
{%- endmacro %}

{# The same of Parquet and ORC files, of which `folder.known` are the columns. Their rows have no lines. #}
{% macro _columnar_records_sql(folder) -%}
records as (

    select
        _metadata.file_path as path,
        {{ dbt_delta._file_columns() }},
        1 as _line,
        '' as line
        {%- for column in folder.columns %},
        {{ 'cast(' ~ dbt_delta._quoted(column.name) ~ ' as string)' if dbt_delta._column(folder.known, column.name) is not none
            else 'cast(null as string)' }} as v{{ loop.index }}
        {%- endfor %}
    from {{ dbt_delta._columnar_from(folder.format, folder.path) }}
    where {{ dbt_delta._in_files(folder.paths) }}

)
{%- endmacro %}
