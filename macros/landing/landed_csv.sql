{#
    A SELECT over the lines of all CSV files in a landing folder that the model has not seen yet.
    Goes into an append model; the table is its own ledger (see _landing__macros.yml).
#}
{% macro landed_csv(folder, columns, null_value='', separator=',') -%}
    {%- do dbt_delta._check_landed_arguments(columns, separator) -%}
    {%- set folder = folder.strip('/') -%}
    {%- set path = dbt_delta.landing_dir() ~ '/' ~ folder -%}
    {%- set ledger = this if is_incremental() else none -%}
    {%- set files = dbt_delta._unseen_files(path, folder, ledger) if execute else [] -%}
    {%- if ledger is not none and not files -%}
        select * from {{ ledger }} where false
    {%- else -%}
        {{- dbt_delta.get_landed_csv_sql(
            path, folder, columns, files, ledger, null_value, separator,
            dbt_delta._masked_here() if execute else []
        ) -}}
    {%- endif -%}
{%- endmacro %}

{#- Refuses what would fail in Spark's words, or in no words: names that the table has twice, odd separators. -#}
{% macro _check_landed_arguments(columns, separator) -%}
    {%- if columns is not mapping or not columns -%}
        {%- do exceptions.raise_compiler_error(
            "dbt_delta.landed_csv needs columns as a mapping of name to type, "
            ~ "such as {'id': 'bigint'}. Got: " ~ columns
        ) -%}
    {%- endif -%}
    {%- set own = ['_file', '_line', '_file_modified_at', '_file_size', '_file_hash', '_load_id',
        '_rejected_reason', '_rejected_line'] -%}
    {%- set seen = [] -%}
    {%- for name in columns -%}
        {%- if name | lower in own -%}
            {%- do exceptions.raise_compiler_error(
                "dbt_delta.landed_csv: columns has the name '" ~ name ~ "', which the macro gives to a column of its "
                ~ "own (" ~ own | join(', ') ~ "). Have the source deliver it under another name"
            ) -%}
        {%- elif name | lower in seen -%}
            {%- do exceptions.raise_compiler_error(
                "dbt_delta.landed_csv: columns has the name '" ~ name ~ "' twice, as upper and lower case are the same "
                ~ "to a table. Have the source deliver one of them under another name"
            ) -%}
        {%- endif -%}
        {%- do seen.append(name | lower) -%}
    {%- endfor -%}
    {%- if separator is not string or not separator or modules.re.search('[\\\\"\r\n]', separator) -%}
        {%- do exceptions.raise_compiler_error(
            "dbt_delta.landed_csv: separator must be text such as ',', ';' or '|', without a backslash, a quotation "
            ~ "mark or the end of a line. Got: " ~ separator ~ ". A tab is written \"\\t\" in Jinja"
        ) -%}
    {%- endif -%}
{%- endmacro %}

{% macro get_landed_csv_sql(
    path, folder, columns, files, ledger=none, null_value='', separator=',', masked=[]
) -%}
{%- set names = columns.keys() | list -%}
{%- set header = names | join(separator) -%}
{%- set separator_pattern = modules.re.escape(separator) -%}
{%- set field_start = '(^|' ~ separator_pattern ~ ')' -%}
{%- set strings = [] -%}
{%- for name in names -%}
    {%- do strings.append(dbt_delta._quoted(name) ~ ' string') -%}
{%- endfor %}
with files as (

    select
        {{ dbt_delta._file_columns() }},
        sha2(value, 256) as _file_hash,
        is_valid_utf8(value) as is_utf8,
        -- Lines of the file, header first; a byte order mark is not data.
        {{ dbt_delta._csv_lines("regexp_replace(value, '^\\uFEFF', '')", separator_pattern) }} as lines
    from text.{{ dbt_delta._quoted(dbt_delta._plain_glob(path)) }} with (
        'wholetext' = 'true', 'recursiveFileLookup' = 'true'
    )
    where {% if files -%}
        _metadata.file_path in (
            {%- for file in files -%}
                {{ dbt_delta._literal(file) }}{{ ', ' if not loop.last }}
            {%- endfor -%}
        )
    {%- else -%} false {%- endif %}

),

judged as (

    select
        files.*,
        case
            when size(filter(lines, part -> trim(part.line) != '')) = 0
                then 'the file is empty'
            when lines[0].line != {{ dbt_delta._literal(header) }}
                then concat(
                    'the header is ', {{ "'***'" if masked else 'lines[0].line' }}, {{ dbt_delta._literal('; expected ' ~ header) }}
                )
            {%- if ledger is not none %}
            when loaded._file is not null
                then concat('same content as ', loaded._file)
            {%- endif %}
            when row_number() over same_content > 1
                then concat('same content as ', first_value(files._file) over same_content)
            when size(filter(lines, part -> trim(part.line) != '')) = 1
                then 'the file has a header and no lines'
        end as file_problem
    from files
    {%- if ledger is not none %}
    left join (
        select
            _file_hash,
            min(_file) as _file
        from {{ ledger }}
        where _line > 0
        group by _file_hash
    ) as loaded
        on files._file_hash = loaded._file_hash
    {%- endif %}
    window same_content as (
        partition by files._file_hash
        order by files._file_modified_at, files._file
        rows between unbounded preceding and current row
    )

),

lines as (

    -- A file that gives no rows leaves one line, number 0, that says why: it is not read again.
    select
        judged.* except (lines),
        -- Without quoted fields: where one still begins with a quotation mark, it was never closed.
        regexp_replace(line, {{ dbt_delta._literal(field_start ~ '"(?:[^"]++|"")*+"(?=' ~ separator_pattern ~ '|\\z)') }}, '$1') as unquoted,
        coalesce(position + 1, 0) as _line,
        line,
        is_inside
    from judged
    lateral view outer posexplode(if(file_problem is null, lines, null)) exploded as position, part
    lateral view outer inline(array(part)) parts as line, is_inside
    where file_problem is not null or (position > 0 and trim(line) != '')

),

parsed as (

    -- Only what has as many fields: from_csv fails for a line with more than it has room for.
    select
        *,
        size(split(unquoted, {{ dbt_delta._literal(separator_pattern) }})) as field_count,
        case when size(split(unquoted, {{ dbt_delta._literal(separator_pattern) }})) = {{ names | length }}
            then from_csv(line, {{ dbt_delta._literal(strings | join(', ')) }}, map(
                'sep', {{ dbt_delta._literal(separator) }}, 'nullValue', {{ dbt_delta._literal(null_value) }},
                'escape', '"', 'columnNameOfCorruptRecord', '__dbt_corrupt'
            ))
        end as fields
    from lines

),

checked as (

    select
        *,
        coalesce(
            file_problem,
            -- In a quoted field the parser drops it.
            case when instr(line, chr(0)) > 0 then 'a NUL character' end,
            case when not is_utf8 and instr(line, '\uFFFD') > 0 then 'bytes that are no UTF-8' end,
            case when is_inside then 'it is inside a quoted field that begins on an earlier line' end,
            case when unquoted rlike {{ dbt_delta._literal(field_start ~ '"') }} then 'a quotation mark is not closed on its line' end,
            case when field_count != {{ names | length }}
                then concat('expected {{ names | length }} fields, found ', field_count)
            end,
            nullif(concat_ws('; '
                {%- for name, type in columns.items() -%}
                {%- set field = 'fields.' ~ dbt_delta._quoted(name) -%}
                {%- set misfit = dbt_delta._misfit(field, type) -%}
                {%- if misfit %}
                , case when {{ misfit }}
                    then concat({{ dbt_delta._literal(name ~ ': ') }}, {{ "'***'" if dbt_delta._is_masked(name, masked) else field }}, ' is not {{ type }}') end
                {%- endif -%}
                {%- endfor -%}
            ), '')
        ) as _rejected_reason
    from parsed

)

select
    {%- for name, type in columns.items() %}
    case when _rejected_reason is null then try_cast(fields.{{ dbt_delta._quoted(name) }} as {{ type }}) end
        as {{ dbt_delta._quoted(name) }},
    {%- endfor %}
    _file,
    _line,
    _file_modified_at,
    _file_size,
    _file_hash,
    {% if ledger is not none -%}
    (select coalesce(max(_load_id), 0) + 1 from {{ ledger }})
    {%- else -%}
    cast(1 as bigint)
    {%- endif %} as _load_id,
    _rejected_reason,
    case when _rejected_reason is not null then line end as _rejected_line
from checked
{%- endmacro %}

{#-
    The lines of a file, each {line, is_inside}: whether it goes on with a quoted field of the line before. Such a
    field begins and ends beside a separator or the end of a line. Possessive patterns keep no stack, however
    many quotation marks there are.
-#}
{% macro _csv_lines(text, separator_pattern) -%}
    {%- set field = '(?<=\\A|\\n|' ~ separator_pattern ~ ')"(?:[^"]++|"")*+"'
        ~ '(?=' ~ separator_pattern ~ '|\\r?\\n|\\r?\\z)' -%}
    {%- set record = '((?:' ~ field ~ '|[^"\\n]++|")*+)(?:\\n|\\z)' -%}
if(
            instr({{ text }}, '"') = 0,
            transform(split({{ text }}, '\r?\n'), line -> named_struct('line', line, 'is_inside', false)),
            flatten(transform(
                regexp_extract_all({{ text }}, {{ dbt_delta._literal(record) }}, 1),
                record -> transform(
                    split(regexp_replace(record, '\r\\z', ''), '\r?\n'),
                    (line, n) -> named_struct('line', line, 'is_inside', n > 0)
                )
            ))
        )
{%- endmacro %}

{#- Name, time and size: together they tell one delivery of a file. -#}
{% macro _file_columns() -%}
        substring_index(_metadata.file_path, '/', -1) as _file,
        _metadata.file_modification_time as _file_modified_at,
        _metadata.file_size as _file_size
{%- endmacro %}

{#-
    Paths of the files in a folder that the ledger does not hold. Reads names, not contents. Spark would take folders
    such as day=1 below for partitions, and then leave out the files beside them: it is told to list all.
-#}
{% macro _unseen_files(path, folder, ledger) -%}
    {%- set listing -%}
        select
            _metadata.file_path as path,
            {{ dbt_delta._file_columns() }}
        from binaryFile.{{ dbt_delta._quoted(dbt_delta._plain_glob(path)) }} with ('recursiveFileLookup' = 'true')
        where endswith(
            left(path, length(path) - length(substring_index(path, '/', -1)) - 1), {{ dbt_delta._literal('/' ~ folder) }}
        )
    {%- endset -%}
    {%- set unseen -%}
        select path from ({{ listing }}) as found
        {%- if ledger is not none %}
        left anti join {{ ledger }} as seen
            on found._file = seen._file
            and found._file_modified_at = seen._file_modified_at
            and found._file_size = seen._file_size
        {%- endif %}
        order by path
    {%- endset -%}
    {%- set rows = run_query(
        "begin declare exit handler for PATH_NOT_FOUND select cast(null as string) as path; "
        ~ unseen ~ "; end"
    ).columns[0].values() -%}
    {%- if rows | length == 1 and rows[0] is none -%}
        {%- do exceptions.raise_compiler_error(
            "dbt_delta.landed_csv found no landing folder " ~ path
            ~ ". Land the data first: ./run build, or python -m dbt_delta.ingest"
        ) -%}
    {%- endif -%}
    {%- do return(rows) -%}
{%- endmacro %}
