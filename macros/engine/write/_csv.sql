{#
    The CTEs that turn the lines of CSV files into rows; see landed_csv. A field begins after a separator, or at the
    beginning of its line.
#}
{% macro _csv_files_sql(path, files, separator, large=[]) -%}
    {#- One of max would sort all lines: Spark hashes groups only where the buffers have a fixed size, or are lists. -#}
    {%- set header = 'collect_list(if(position = 0, ' ~ dbt_delta._large_line() ~ ', null))[0]' -%}
    {%- set filled = dbt_delta._filled_lines() -%}
    {%- set of_large = (
        "transform(concat(array(coalesce(" ~ header ~ ", '')), array_repeat('more', cast(least(2, " ~ filled ~ " - if("
        ~ "trim(" ~ header ~ ") != '', 1, 0)) as int))), line -> named_struct('line', line, 'is_inside', false))"
    ) -%}
    {{- dbt_delta._text_files_sql(
        path, files, dbt_delta._csv_lines(dbt_delta._file_text(), separator), large, of_large,
        'min(if(' ~ dbt_delta._is_open_line(dbt_delta._large_line(), separator) ~ ', position + 1, null))'
    ) -}}
{%- endmacro %}

{#
    The condition that a line begins a quoted field which does not end on it. Which lines belong together only the whole
    file says.
#}
{% macro _is_open_line(line, separator) -%}
    {%- set pattern, open = modules.re.escape(separator), '"(?:[^"]++|"")*+\\z' -%}
    {%- set quoted = dbt_delta._quoted_field(separator) -%}
    {%- set plain = '(?!' ~ open ~ '|' ~ quoted ~ ')' ~ dbt_delta._plain_field(separator) -%}
    {%- set field = '(?:' ~ quoted ~ '|' ~ plain ~ ')' -%}
    {{- return(
        "instr(value, '\"') > 0 and " ~ line ~ ' rlike '
        ~ dbt_delta._literal('\\A(?:' ~ field ~ pattern ~ ')*+' ~ open)
    ) -}}
{%- endmacro %}

{#
    WHEN clauses for a file with another header than that of the columns, first of its lines, and for one with nothing
    else. With `drift` the header may have the columns in any order, and others: see landed_files; `required` are those
    that the model names.
#}
{% macro _csv_file_reasons(names, separator, masked, drift=none, required=[]) -%}
    {%- set filled, header = "size(filter(lines, part -> trim(part.line) != ''))", names | join(separator) -%}
    {%- set before = [
        'when ' ~ filled ~ " = 0 then 'the file is empty'",
        "when open_line is not null then concat('line ', open_line, ' has a quoted field that does not end on it, and the "
        ~ "file is too large to be read as a whole (variable dbt_delta_whole_file_bytes)')",
    ] -%}
    {%- if drift is none -%}
        {%- do before.append(
            'when lines[0].line != ' ~ dbt_delta._literal(header) ~ " then concat('the header is ', "
            ~ ("'***'" if masked else 'lines[0].line') ~ ', ' ~ dbt_delta._literal('; expected ' ~ header) ~ ')'
        ) -%}
    {%- else -%}
        {%- set problems = dbt_delta._csv_header_problems(separator, drift, required)
            + ([] if drift == 'rescue' else [dbt_delta._csv_unknown_columns(names, separator)]) -%}
        {%- for problem in problems -%}
            {%- do before.append(
                'when ' ~ problem.condition ~ ' then concat(' ~ dbt_delta._literal('the header ' ~ problem.what ~ ': ')
                ~ ', ' ~ ("'***'" if masked and problem.shows_header else problem.shown) ~ ')'
            ) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return({
        'before': before, 'after': ['when ' ~ filled ~ " = 1 then 'the file has a header and no lines'"],
    }) -}}
{%- endmacro %}

{# What is wrong with a header whatever else it names, {condition, what, shown, shows_header}. #}
{% macro _csv_header_problems(separator, drift, required) -%}
    {%- set found = dbt_delta._csv_names(separator) -%}
    {%- set lacking = 'array_except(array(' ~ dbt_delta._literals(required) | join(', ') ~ '), ' ~ found ~ ')' -%}
    {{- return([
        {
            'condition': 'array_contains(' ~ found ~ ", '') or size(array_distinct(transform(" ~ found
                ~ ', name -> lower(name)))) < size(' ~ found ~ ')',
            'what': 'has a name twice, or an empty one', 'shown': 'lines[0].line', 'shows_header': true,
        },
        {
            'condition': 'size(' ~ lacking ~ ') ' ~ ('= ' ~ required | length if drift == 'rescue' else '> 0'),
            'what': 'lacks columns', 'shown': 'array_join(' ~ lacking ~ ", ', ')", 'shows_header': false,
        },
    ]) -}}
{%- endmacro %}

{# The same of names that are no columns. #}
{% macro _csv_unknown_columns(names, separator) -%}
    {%- set unknown = 'array_except(' ~ dbt_delta._csv_names(separator) ~ ', array('
        ~ dbt_delta._literals(names) | join(', ') ~ '))' -%}
    {{- return({
        'condition': 'size(' ~ unknown ~ ') > 0', 'what': 'has columns that the model does not name',
        'shown': 'array_join(' ~ unknown ~ ", ', ')", 'shows_header': true,
    }) -}}
{%- endmacro %}

{#
    Their lines, split into fields: an array of values in the order of the columns; with `drift` a map of values by the
    names in the header.
#}
{% macro _csv_fields_sql(names, null_value, separator, drift=none, large=[]) -%}
{%- set further = [dbt_delta._csv_names(separator) ~ ' as header'] if drift is not none else [] -%}
{%- set header = 'array(' ~ dbt_delta._literals(names) | join(', ') ~ ')' if drift is none else 'header' -%}
lines as (

    -- A file without rows leaves one line, number 0, with the reason, and is not read again.
    select
        judged.* except (lines, is_utf8),
        {%- for column in further %}
        {{ column }},
        {%- endfor %}
        is_utf8,
        coalesce(position + 1, 0) as _line,
        line
    from judged
    lateral view outer posexplode(if(file_problem is null, lines, null)) exploded as position, part
    lateral view outer inline(array(part)) parts as line, is_inside
    where file_problem is not null or (not is_large and position > 0 and not is_inside and trim(line) != '')
    {{- dbt_delta._kept_large_lines_sql("position > 0 and trim(line) != ''", further) if large }}

),

cut as (

    select
        *,
        {{ dbt_delta._csv_cells('line', separator) }} as cells
    from lines

),

split as (

    select
        *,
        size({{ header }}) as column_count,
        transform(cells, cell -> nullif(
            if(cell = '', null, {{ dbt_delta._csv_text('cell') }}), {{ dbt_delta._literal(null_value) }}
        )) as texts
    from cut

),

parsed as (

    select
        *,
        case when size(cells) = column_count then
            {{ 'texts' if drift is none else 'map_from_arrays(header, texts)' }}
        end as fields
    from split

)
{%- endmacro %}

{# The lines, and the reason why a line is rejected. #}
{% macro _csv_checked_sql(wanted, separator, masked) -%}
checked as (

    select
        *,
        coalesce(
            file_problem,
            case when instr(line, chr(0)) > 0 then 'a NUL character' end,
            case when not is_utf8 and instr(line, '\uFFFD') > 0 then 'bytes that are not valid UTF-8' end,
            case when instr(line, '"') > 0
                    and exists(cells, cell -> startswith(cell, '"') and not cell rlike '^"(?:[^"]++|"")*+"\\z')
                then 'a quotation mark is not closed on its line' end,
            case when size(cells) != column_count
                then concat('expected ', column_count, ' fields, found ', size(cells))
            end,
            nullif(concat_ws(
                '; ',
                {{ (dbt_delta._misfit_reasons(wanted, masked) + ['null']) | join(',\n                ') }}
            ), '')
        ) as _rejected_reason
    from parsed

)
{%- endmacro %}

{# A text as a value of a type, as _json_value has it. #}
{% macro _csv_value(text, type) -%}
    {{- return({
        'type': type, 'text': text, 'value': 'try_cast(' ~ text ~ ' as ' ~ type ~ ')',
        'misfit': dbt_delta._misfit(text, type),
    }) -}}
{%- endmacro %}

{# What the columns do not name, as JSON. #}
{% macro _csv_rescued(columns) -%}
    {%- set known = dbt_delta._literals(columns.keys()) | join(', ') -%}
    {{- return(
        'nullif(to_json(map_filter(fields, (name, text) -> text is not null and not array_contains(array(' ~ known
        ~ "), name))), '{}')"
    ) -}}
{%- endmacro %}

{#-
    The fields of a line as they are written. One that begins with a quotation mark and has no other that closes it
    before a separator or at the end goes to the next separator.
-#}
{% macro _csv_cells(line, separator) -%}
    {%- set pattern = modules.re.escape(separator) -%}
    {%- set cell = '(' ~ dbt_delta._quoted_field(separator) ~ '|' ~ dbt_delta._plain_field(separator) ~ ')' -%}
    {#- Without a quotation mark it need not be looked for. -#}
    {{- return(
        'if(instr(' ~ line ~ ", '\"') = 0, split(" ~ line ~ ', ' ~ dbt_delta._literal(pattern) ~ '), '
        ~ 'regexp_extract_all(concat(' ~ dbt_delta._literal(separator) ~ ', ' ~ line ~ '), '
        ~ dbt_delta._literal(pattern ~ cell) ~ ', 1))'
    ) -}}
{%- endmacro %}

{# A pattern of a field in quotation marks, up to the next separator or an end, that of the line. #}
{% macro _quoted_field(separator, end='\\z') -%}
    {{- return('"(?:[^"]++|"")*+"(?=' ~ modules.re.escape(separator) ~ '|' ~ end ~ ')') -}}
{%- endmacro %}

{# A pattern of what goes to the next separator, or to one of some other characters. #}
{% macro _plain_field(separator, end='') -%}
    {%- set pattern = modules.re.escape(separator) -%}
    {%- if separator | length == 1 -%}{{- return('[^' ~ pattern ~ end ~ ']*+') -}}{%- endif -%}
    {{- return('(?:(?!' ~ pattern ~ ')' ~ ('[^' ~ end ~ ']' if end else '[\\s\\S]') ~ ')*+') -}}
{%- endmacro %}

{# A field without its quotation marks. #}
{% macro _csv_text(cell) -%}
    {{- return(
        "if(startswith(" ~ cell ~ ", '\"'), replace(substr(" ~ cell ~ ", 2, length(" ~ cell ~ ") - 2), '\"\"', '\"'), "
        ~ cell ~ ')'
    ) -}}
{%- endmacro %}

{# The names in the header of a file. #}
{% macro _csv_names(separator) -%}
    {{- return(
        'transform(' ~ dbt_delta._csv_cells('lines[0].line', separator) ~ ', cell -> ' ~ dbt_delta._csv_text('cell') ~ ')'
    ) -}}
{%- endmacro %}

{# The names in the headers of files that have no column yet; not of files with another problem. #}
{% macro _new_csv_names_sql(path, files, separator, columns, required, large=[]) -%}
with {{ dbt_delta._csv_files_sql(path, files, separator, large) }}

select distinct name
from files
lateral view explode({{ dbt_delta._csv_names(separator) }}) names as name
where name not in ({{ dbt_delta._literals(columns) | join(', ') }})
{%- for problem in dbt_delta._csv_header_problems(separator, 'add', required) %}
    and not ({{ problem.condition }})
{%- endfor %}
order by name
{%- endmacro %}

{# A pattern of a record with what ends it, in a text with quotation marks. #}
{% macro _csv_record_pattern(separator) -%}
    {%- set pattern = modules.re.escape(separator) -%}
    {%- set quoted = dbt_delta._quoted_field(separator, '\\r?\\n|\\r?\\z') -%}
    {%- set field = '(?:' ~ quoted ~ '|' ~ dbt_delta._plain_field(separator, '\\n') ~ ')' -%}
    {{- return('(' ~ field ~ '(?:' ~ pattern ~ field ~ ')*+)\\r?(?:\\n|\\z)') -}}
{%- endmacro %}

{#-
    The lines of a file, each {line, is_inside}. A quoted field begins and ends next to a separator or the end of a line,
    and may have line breaks: then `line` has all of them, and the lines that it goes on in are empty and `is_inside`.
    Possessive patterns need no stack, even with many quotation marks. A line always fits the pattern.
-#}
{% macro _csv_lines(text, separator) -%}
    {%- set record = dbt_delta._csv_record_pattern(separator) -%}
if(
            instr({{ text }}, '"') = 0,
            transform(split(regexp_replace({{ text }}, '\r\\z', ''), '\r?\n'), line -> named_struct('line', line, 'is_inside', false)),
            flatten(transform(
                transform(
                    regexp_extract_all({{ text }}, {{ dbt_delta._literal(record) }}, 1),
                    record -> regexp_replace(record, '\r\\z', '')
                ),
                record -> transform(
                    split(record, '\n'),
                    (line, n) -> named_struct('line', if(n = 0, record, ''), 'is_inside', n > 0)
                )
            ))
        )
{%- endmacro %}
