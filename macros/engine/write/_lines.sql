{#
    The CTE of text files. A small one is one `value`; `lines` is its expression for their lines. A large one is read by
    lines: `of_large` is what stands for all of them, and `open_line` the number of one that only a whole file explains,
    an aggregate of `value` and `position`.
#}
{% macro _text_files_sql(path, files, lines, large=[], of_large=none, open_line='cast(null as bigint)') -%}
{%- set from = 'text.' ~ dbt_delta._quoted(dbt_delta._plain_glob(path)) -%}
{%- set small = files | reject('in', large) | list -%}
{%- if large -%}
{{ dbt_delta._numbered_lines_sql(from, large) }},

{% endif -%}
files as (

    select
        _metadata.file_path as path,
        false as is_large,
        {{ dbt_delta._file_columns() }},
        sha2(value, 256) as _file_hash,
        is_valid_utf8(value) as is_utf8,
        cast(null as bigint) as open_line,
        {{ lines }} as lines
    from {{ from }} with ('wholetext' = 'true', 'recursiveFileLookup' = 'true')
    where {{ dbt_delta._in_files(small) }}
    {%- if large %}
    union all
    select
        path,
        true as is_large,
        _file,
        _file_modified_at,
        _file_size,
        concat_ws(
            '-', count(*), hex(bit_xor(xxhash64(position, value))), hex(bit_xor(xxhash64(value, position)))
        ) as _file_hash,
        true as is_utf8,
        {{ open_line }} as open_line,
        {{ of_large or "if(" ~ dbt_delta._filled_lines() ~ " > 0, array('large'), array())" }} as lines
    from numbered
    group by all
    {%- endif %}

)
{%- endmacro %}

{# From how many bytes on a file is large: it is read by lines. #}
{% macro _whole_file_bytes() -%}{{- return(var('dbt_delta_whole_file_bytes', 64 * 1024 * 1024)) -}}{%- endmacro %}

{# How many lines of a large file are not blank. #}
{% macro _filled_lines() -%}
count_if(trim(value) not in ('', '\r'))
{%- endmacro %}

{# A line of a large file, without the half of its line break. #}
{% macro _large_line() -%}
if(endswith(value, '\r'), regexp_replace(make_valid_utf8(value), '\r\\z', ''), make_valid_utf8(value))
{%- endmacro %}

{# The lines of a file: what ends in a line break. #}
{% macro _cut_lines() -%}
split(regexp_replace({{ dbt_delta._file_text() }}, '\r\\z', ''), '\r?\n')
{%- endmacro %}

{#
    The CTEs of the lines of large files, which many tasks read. A line has the number that the lines before it in its
    part of the file give it, after all lines of the parts before. Spark keeps the result of a CTE with
    monotonically_increasing_id on disk, so each line is read once, with the same id.
#}
{% macro _numbered_lines_sql(from, large) -%}
read_lines as (

    select /*+ repartition(id) */ *
    from (
        select
            _metadata.file_path as path,
            {{ dbt_delta._file_columns() }},
            _metadata.file_block_start as block,
            monotonically_increasing_id() as id,
            value
        from {{ from }} with ('lineSep' = '\n', 'recursiveFileLookup' = 'true')
        where {{ dbt_delta._in_files(large) }}
    )

),

blocks as (

    select
        path,
        block,
        first_id,
        sum(line_count) over (partition by path order by block) - line_count as lines_before
    from (
        select path, block, min(id) as first_id, count(*) as line_count from read_lines group by path, block
    )

),

numbered as (

    select /*+ broadcast(blocks) */
        read_lines.*,
        lines_before + id - first_id as position
    from read_lines
    inner join blocks
        on read_lines.path = blocks.path
        and read_lines.block = blocks.block

)
{%- endmacro %}

{#
    The lines of the judged files; `is_kept` is a condition. A file without rows leaves one line, number 0, with the
    reason, and is not read again. What follows the last line break is no line if it is empty.
#}
{% macro _kept_lines_sql(large, is_kept) -%}
lines as (

    select
        judged.* except (lines, is_utf8),
        is_utf8,
        coalesce(position + 1, 0) as _line,
        line
    from judged
    lateral view outer posexplode(if(file_problem is null and not is_large, lines, null)) exploded as position, line
    where file_problem is not null
        or (not is_large and (position + 1 < size(lines) or line != '') and {{ is_kept }})
    {{- dbt_delta._kept_large_lines_sql(is_kept) if large }}

)
{%- endmacro %}

{# The rows of _kept_lines_sql for large files; `further` are columns of `judged` and of the line. #}
{% macro _kept_large_lines_sql(is_kept, further=[]) %}
    union all
    select /*+ broadcast(judged) */
        judged.* except (lines, is_utf8),
        {%- for column in further %}
        {{ column }},
        {%- endfor %}
        is_line_utf8 as is_utf8,
        position + 1 as _line,
        line
    from judged
    inner join (
        -- Spark's reader has left out a byte order mark.
        select
            path,
            position,
            is_valid_utf8(value) as is_line_utf8,
            {{ dbt_delta._large_line() }} as line
        from numbered
    ) as numbered_lines
        on judged.path = numbered_lines.path
    where file_problem is null and is_large and {{ is_kept }}
{%- endmacro %}

{# The lines of files of format text, and the reason why a line is rejected. #}
{% macro _text_checked_sql() -%}
checked as (

    select
        *,
        coalesce(
            file_problem,
            case when not is_utf8 and instr(line, '\uFFFD') > 0 then 'bytes that are not valid UTF-8' end
        ) as _rejected_reason
    from lines

)
{%- endmacro %}
