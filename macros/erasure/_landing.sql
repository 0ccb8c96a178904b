{# Landing files of an erasure: records of subjects are found in them, and files are written anew or removed. #}

{#
    The landing folders of an erasure, by their names in models: {path, format, separator, null_value, columns, tables}.
    `columns` are {name, group, kind}; `tables` are the records of files that models have of the folder: for each of them
    a file that was written anew would be a new one.
#}
{% macro _erased_folders(macro, tables) -%}
    {%- set folders, names, problems = {}, {}, [] -%}
    {%- for reader in dbt_delta._landing_readers(macro, tables) -%}
        {%- set path, columns = adapter.dbt_delta_erasure().resolved(dbt_delta.landing_dir(reader.read.folder)), [] -%}
        {%- for column in reader.table.columns if reader.table is not none -%}
            {%- set there = dbt_delta._column(reader.table.existing.columns, column.name) -%}
            {%- do columns.append({
                'name': there.name, 'group': column.group, 'kind': dbt_delta._key_kind(there.type),
            }) -%}
        {%- endfor -%}
        {%- set known = folders.get(path, dict(reader.read, columns=[], tables=[])) -%}
        {%- for part in ('format', 'separator', 'null_value') if known[part] != reader.read[part] -%}
            {%- do problems.append('Two models read the landing folder ' ~ path ~ ' with another ' ~ part) -%}
        {%- endfor -%}
        {%- do folders.update({path: dict(
            known, columns=known.columns + columns, tables=known.tables + ([reader.record] if reader.record else []),
        )}) -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_erasure(macro, problems) -%}
    {%- for folder in folders.values() if folder.columns -%}
        {%- do names.update({folder.folder: folder}) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{#
    The models that land files, {read, record, table}: `read` is what they land, by their code or `meta`, `record` the
    table that knows its files, if there is one, `table` that of the erasure.
#}
{% macro _landing_readers(macro, tables) -%}
    {%- set readers, problems, schemas, erasure = [], [], dbt_delta._schemas(), adapter.dbt_delta_erasure() -%}
    {%- set erased = {} -%}
    {%- for table in tables if table.get('node') and not table.is_beside -%}
        {%- do erased.update({table.node.unique_id: table}) -%}
        {%- do problems.append(
            dbt_delta._bare(table.relation) ~ ' is a source with landed files: erase these where they are landed, or use '
            ~ 'landing: out_of_scope'
        ) if table.keeps_files and table.node.resource_type == 'source' -%}
    {%- endfor -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'model' -%}
        {%- set relation = api.Relation.create(schema=node.schema, identifier=node.alias) -%}
        {%- set is_record = dbt_delta._may_keep_files(node) and dbt_delta._is_there(relation, schemas)
            and dbt_delta._is_ledger(dbt_delta._existing(relation).columns) -%}
        {%- set found = erasure.landed(node.raw_code, (node.config.get('meta') or {}).get('landing')) -%}
        {%- if found.problem and (is_record or node.unique_id in erased) -%}
            {%- do problems.append(
                node.name ~ ' does not say which files it lands: ' ~ found.problem ~ '. Give it config: {meta: {landing: '
                ~ '{folder: .., format: .., separator: .., null_value: ..}}}, or landing: false if it lands none'
            ) -%}
        {%- elif found.read -%}
            {%- do readers.append({
                'read': found.read, 'table': erased.get(node.unique_id),
                'record': {'schema': node.schema, 'identifier': node.alias} if is_record else none,
            }) -%}
        {%- elif is_record and (node.config.get('meta') or {}).get('landing') is not false -%}
            {%- do problems.append(
                node.name ~ ' has the columns of landed files, and no call of landed_csv or landed_files. Give it config: '
                ~ '{meta: {landing: {folder: .., format: ..}}}, or landing: false if it lands none'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_erasure(macro, problems) -%}
    {{- return(readers) -}}
{%- endmacro %}

{# Whether the table of a node may be the record of its files: what replaces rows cannot be. #}
{% macro _may_keep_files(node) -%}
    {{- return(node.resource_type == 'source' or (
        node.config.get('materialized') == 'incremental' and not node.config.get('unique_key')
        and (node.config.get('meta') or {}).get('landing') is not false
    )) -}}
{%- endmacro %}

{# The folders with `files`: those that have subjects, by their path, as landing.records in src returns them. #}
{% macro _searched_folders(macro, folders, subjects) -%}
    {%- set searched, erasure = {}, adapter.dbt_delta_erasure() -%}
    {%- for name, folder in folders.items() -%}
        {%- set path = dbt_delta.landing_dir(name) -%}
        {%- set is_there = erasure.exists(path) -%}
        {%- set found = dbt_delta._files_of_folder(path, name, none, macro, is_there) -%}
        {%- set all = dict(
            folder, path=path, paths=found.files, large=found.large, is_there=is_there,
            known=dbt_delta._columns_of_files(path, folder.format, found.files, macro, ''),
        ) -%}
        {%- do searched.update({name: dict(all, files=erasure.records(
            dbt_delta._landing_records_sql(all, erasure.words_sql('line', [folder.separator])), folder.columns, subjects
        ) if all.paths else {})}) -%}
    {%- endfor -%}
    {{- return(searched) -}}
{%- endmacro %}

{# Why landing files cannot be changed; all of it before the first write. #}
{% macro _landing_problems(folders, landing) -%}
    {%- set problems, erasure = [], adapter.dbt_delta_erasure() -%}
    {%- for name, folder in folders.items() -%}
        {%- set why = [] -%}
        {%- do why.append('is not there (' ~ folder.path ~ ')') if not folder.is_there -%}
        {%- if folder.files -%}
            {%- do why.append('cannot be written by this user') if erasure.unwritable({name: folder.path}) -%}
            {%- set links = erasure.links(folder.files.keys() | list) -%}
            {%- do why.append('has links to other files: ' ~ links | join(', ')) if links -%}
        {%- endif -%}
        {%- if folder.files and landing == 'rewrite' -%}
            {%- set out = ', which rewrite does not change. Use landing: delete, or out_of_scope' -%}
            {%- set limit = dbt_delta._whole_file_bytes() -%}
            {%- do why.append('has files of format ' ~ folder.format ~ out)
                if folder.format not in ('csv', 'json', 'text') -%}
            {%- do why.append('has files of more than ' ~ limit ~ ' bytes (variable dbt_delta_whole_file_bytes)' ~ out)
                if folder.large | select('in', folder.files) | list -%}
            {%- do why.append('is in a store that cannot rename a file over another one' ~ out)
                if not erasure.renames(folder.path) -%}
        {%- endif -%}
        {%- for text in why -%}{%- do problems.append('The landing folder ' ~ name ~ ' ' ~ text) -%}{%- endfor -%}
    {%- endfor -%}
    {{- return(problems) -}}
{%- endmacro %}

{#
    Changes the landing files that have subjects. Tables have to know a file before it is there, so that no run between
    lands it. A run that has read the old file may commit it at any time: so the certificate has what was written anew.
#}
{% macro _erase_landing(plan, record) -%}
    {%- set erasure, prepared, mode = adapter.dbt_delta_erasure(), {}, record.landing.mode -%}
    {%- set rewritten = record.landing.rewritten | list -%}
    {%- for name, folder in plan.folders.items() -%}
        {%- do prepared.update({name: erasure.prepare(
            folder.path, folder.files, mode == 'rewrite',
            dbt_delta._csv_record_pattern(folder.separator) if folder.format == 'csv' else none,
            dbt_delta._other_contents_sql(folder)
        )}) -%}
    {%- endfor -%}
    {%- for name, files in prepared.items() if mode == 'rewrite' -%}
        {%- set anew = [] -%}
        {%- for file in files | rejectattr('part', 'none') -%}
            {%- do anew.append({
                'file': file.file, 'old_time': file.old_time, 'old_size': file.old_size,
                'modified_at': file.modified_at, 'size': file.size, 'hash': file.hash,
            }) -%}
        {%- endfor -%}
        {%- set one = {'tables': plan.folders[name].tables, 'files': anew} -%}
        {%- do rewritten.append(one) if anew and one not in rewritten -%}
    {%- endfor -%}
    {%- set record = dict(record, landing=dict(record.landing, rewritten=rewritten)) -%}
    {%- do erasure.write(dbt_delta._erasure_folder(), record) -%}
    {%- do dbt_delta._know_rewritten(record) -%}
    {%- for name, files in prepared.items() if files -%}
        {%- set changed = erasure.replace(files) -%}
        {%- do print(mode ~ ' landing files of ' ~ name ~ ': ' ~ (files | length - changed | length)
            ~ (', not those that changed meanwhile: ' ~ changed | join(', ') if changed else '')) -%}
    {%- endfor -%}
    {%- do dbt_delta._know_rewritten(record) -%}
    {{- return(record) -}}
{%- endmacro %}

{# Makes files that were written anew known to the tables that have meanwhile loaded what they were written from. #}
{% macro _know_rewritten(record) -%}
    {%- set rewritten = record.get('landing', {}).get('rewritten', []) -%}
    {%- set schemas = dbt_delta._schemas() if rewritten else [] -%}
    {%- for one in rewritten -%}
        {%- for table in one.tables -%}
            {%- set relation = api.Relation.create(schema=table.schema, identifier=table.identifier) -%}
            {%- do dbt_delta._know_files(table, one.files, record) if dbt_delta._is_there(relation, schemas) -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}

{# The content of the files that have no subject, as the loader compares it; large ones it compares in another way. #}
{% macro _other_contents_sql(folder) -%}
    {%- set others = folder.paths | reject('in', folder.files) | reject('in', folder.large) | list -%}
    {{- return(
        'with ' ~ dbt_delta._text_files_sql(folder.path, others, 'array()') ~ ' select _file_hash, _file from files'
    ) -}}
{%- endmacro %}

{# Makes files known to the table that has loaded what they were written from. #}
{% macro _know_files(table, files, record) -%}
    {%- set existing = dbt_delta._existing(api.Relation.create(schema=table.schema, identifier=table.identifier)) -%}
    {%- set is_ledger = dbt_delta._is_ledger(existing.columns) -%}
    {%- set new = dbt_delta._new_files_sql(table, files if is_ledger else [], existing.columns) -%}
    {%- set counted = 'select count(*) as row_count from (' ~ new.sql ~ ')' -%}
    {%- if new.sql and dbt_delta._ask(counted).rows[0]['row_count'] | int -%}
        {%- call dbt_delta._tagging({'dbt_erased': record.request}) -%}
            {%- do dbt_delta._execute(
                'insert into ' ~ dbt_delta._named(table) ~ ' (' ~ new.columns | join(', ') ~ ') ' ~ new.sql
            ) -%}
        {%- endcall -%}
    {%- endif -%}
{%- endmacro %}

{#
    The rows by which a table knows them, {columns, sql}. Number 0 is that of a file that gave no rows: but what has the
    content of another file is known by its content, as that may be gone. No row of them says that the file was data which
    was not: see latest_dump.
#}
{% macro _new_files_sql(table, files, columns) -%}
    {%- set own, rows = dbt_delta._ledger_columns(), [] -%}
    {%- set has_reason = dbt_delta._column(columns, '_rejected_reason') is not none -%}
    {%- for one in files -%}
        {%- do rows.append(
            '(' ~ dbt_delta._literal(one.file) ~ ', ' ~ one.old_time ~ ', ' ~ one.old_size ~ ', ' ~ one.modified_at ~ ', '
            ~ one.size ~ ", '" ~ one.hash ~ "')"
        ) -%}
    {%- endfor -%}
    {%- set same = 'old.' ~ own[0] ~ ' = anew.name' -%}
    {%- set is_loaded = 'coalesce(old._line, 1) > 0'
        ~ (" or old._rejected_reason like 'same content as %'" if has_reason else '') -%}
    {%- set reason = "min(if(coalesce(old._rejected_reason, 'erased') = 'erased', 'erased', 'erased line'))" -%}
    {%- set sql -%}
        select anew.name, max(if({{ is_loaded }}, 1, 0)), timestamp_micros(max(anew.modified_at)), max(anew.size),
            max(anew.hash), max(old._load_id) {{- ', ' ~ reason if has_reason }}
        from (values {{ rows | join(', ') }}) as anew (name, old_time, old_size, modified_at, size, hash)
        inner join {{ dbt_delta._named(table) }} as old
            on {{ same }} and old._file_modified_at = timestamp_micros(anew.old_time) and old._file_size = anew.old_size
        where not exists (
            select 1 from {{ dbt_delta._named(table) }} as old
            where {{ same }} and old._file_modified_at = timestamp_micros(anew.modified_at) and old._file_size = anew.size
        )
        group by anew.name
    {%- endset -%}
    {{- return({'columns': own[:7 if has_reason else 6], 'sql': sql if rows else ''}) -}}
{%- endmacro %}

{#
    The records of landing files: path, _file, modified_at, _file_size, _line, line_count, and for each column its value
    k1, k2 .. and w1, w2 ..: the words of a record that does not say which column a value is of. `words` is the
    expression of those of `line`.
#}
{% macro _landing_records_sql(folder, words) -%}
{%- set values, unclear = [], [] -%}
{%- for column in folder.columns -%}
    {%- set name, is_odd = dbt_delta._literal(column.name | lower), [] -%}
    {%- set value = {
        'csv': 'nullif(nullif('
            ~ dbt_delta._csv_text('get(cells, cast(array_position(names, ' ~ name ~ ') as int) - 1)') ~ ", ''), "
            ~ dbt_delta._literal(folder.null_value) ~ ')',
        'json': 'try_variant_get(fields[' ~ dbt_delta._literal(column.name) ~ "], '$', 'string')", 'text': 'line',
    }.get(folder.format, 'v' ~ loop.index) -%}
    {%- set number = 'try_cast(' ~ value ~ ' as bigint)' -%}
    {%- do is_odd.append('is_odd or (is_refused and not array_contains(names, ' ~ name ~ '))')
        if folder.format == 'csv' -%}
    {%- do is_odd.append('fields is null') if folder.format == 'json' -%}
    {%- do is_odd.append('(' ~ value ~ ' is not null and ' ~ number ~ ' is null)') if column.kind == 'integer' -%}
    {%- do values.append(
        'coalesce(cast(' ~ number ~ ' as string), ' ~ value ~ ')' if column.kind == 'integer' else value
    ) -%}
    {%- do unclear.append(is_odd | join(' or ') or 'false') -%}
{%- endfor -%}
{%- set words = 'array_union(' ~ words ~ ', transform(cells, cell -> ' ~ dbt_delta._csv_text('cell') ~ '))'
    if folder.format == 'csv' else words -%}
with {{ {
    'csv': dbt_delta._csv_records_sql, 'json': dbt_delta._line_records_sql, 'text': dbt_delta._line_records_sql,
}.get(folder.format, dbt_delta._columnar_records_sql)(folder) }}

select
    {%- for value in values %}
    {{ value }} as k{{ loop.index }},
    case when {{ unclear[loop.index0] }} then {{ words }} else array() end as w{{ loop.index }},
    {%- endfor %}
    path,
    _file,
    unix_micros(_file_modified_at) as modified_at,
    _file_size,
    _line,
    1 + length(line) - length(replace(line, '\n', '')) as line_count
from records
{%- endmacro %}

{#
    The CTE `records` of CSV files, with the fields as they are written, and the names in the header in lower case. Of a
    file that a table has refused the first line may be one with values, too.
#}
{% macro _csv_records_sql(folder) -%}
{%- set is_kept = '(position > 0 or is_refused)' -%}
{{ dbt_delta._csv_files_sql(folder.path, folder.paths, folder.separator, folder.large) }},

refused as (

    select distinct name, modified_at, size
    from (
        {%- for table in folder.tables %}
        select {{ dbt_delta._ledger_columns()[0] }} as name, _file_modified_at as modified_at, _file_size as size
        from {{ dbt_delta._named(table) }}
        where _line = 0 and coalesce(_rejected_reason not like 'same content as %', false)
        union all
        {%- endfor %}
        select cast(null as string), cast(null as timestamp), cast(null as bigint) where false
    )

),

judged as (

    select
        files.*,
        transform({{ dbt_delta._csv_names(folder.separator) }}, name -> lower(name)) as names,
        refused.name is not null as is_refused,
        cast(null as string) as file_problem
    from files
    left join refused
        on files._file = refused.name
        and files._file_modified_at = refused.modified_at
        and files._file_size = refused.size

),

lines as (

    select judged.* except (lines, is_utf8), is_utf8, position + 1 as _line, part.line as line
    from judged
    lateral view posexplode(lines) exploded as position, part
    where not is_large and not part.is_inside and {{ is_kept }}
    {{- dbt_delta._kept_large_lines_sql(is_kept) if folder.large }}

),

cut as (select *, {{ dbt_delta._csv_cells('line', folder.separator) }} as cells from lines),

records as (

    select *, size(cells) != size(names) or size(array_distinct(names)) < size(names) as is_odd
    from cut

)
{%- endmacro %}

{# The same of JSON and text files, with the fields of a JSON object as the loader has them. #}
{% macro _line_records_sql(folder) -%}
{{ dbt_delta._text_files_sql(folder.path, folder.paths, dbt_delta._cut_lines(), folder.large) }},

judged as (select *, cast(null as string) as file_problem from files),

{{ dbt_delta._kept_lines_sql(folder.large, 'true') }},

{{ dbt_delta._json_fields_sql() ~ ',' if folder.format == 'json' }}

records as (select * from {{ 'parsed' if folder.format == 'json' else 'lines' }})
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
        {%- set is_known = dbt_delta._column(folder.known, column.name) is not none %}
        cast({{ dbt_delta._quoted(column.name) if is_known else 'null' }} as string) as v{{ loop.index }}
        {%- endfor %}
    from {{ dbt_delta._columnar_from(folder.format, folder.path) }}
    where {{ dbt_delta._in_files(folder.paths) }}

)
{%- endmacro %}
