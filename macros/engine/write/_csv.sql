{#
    The CTEs that turn the lines of CSV files into rows; see landed_csv. A field begins after a separator, or at the
    beginning of its line.
#}
{% macro _csv_files_sql(path, files, separator) -%}
    {{- dbt_delta._text_files_sql(
        path, files, dbt_delta._csv_lines(dbt_delta._file_text(), modules.re.escape(separator))
    ) -}}
{%- endmacro %}

{# WHEN clauses for a file without the header, first of its lines, and for one with nothing else. #}
{% macro _csv_file_reasons(header, masked) -%}
    {%- set filled = "size(filter(lines, part -> trim(part.line) != ''))" -%}
    {{- return({
        'before': [
            'when ' ~ filled ~ " = 0 then 'the file is empty'",
            'when lines[0].line != ' ~ dbt_delta._literal(header) ~ " then concat('the header is ', "
                ~ ("'***'" if masked else 'lines[0].line') ~ ', ' ~ dbt_delta._literal('; expected ' ~ header) ~ ')',
        ],
        'after': ['when ' ~ filled ~ " = 1 then 'the file has a header and no lines'"],
    }) -}}
{%- endmacro %}

{# Their lines, split into fields. #}
{% macro _csv_fields_sql(names, null_value, separator) -%}
{%- set pattern, strings = modules.re.escape(separator), [] -%}
{%- for name in names -%}{%- do strings.append(dbt_delta._quoted(name) ~ ' string') -%}{%- endfor -%}
lines as (

    -- A file without rows leaves one line, number 0, with the reason, and is not read again.
    select
        judged.* except (lines),
        -- Without quoted fields: a field that still begins with a quotation mark was never closed.
        regexp_replace(line, {{ dbt_delta._literal('(^|' ~ pattern ~ ')"(?:[^"]++|"")*+"(?=' ~ pattern ~ '|\\z)') }}, '$1') as unquoted,
        coalesce(position + 1, 0) as _line,
        line
    from judged
    lateral view outer posexplode(if(file_problem is null, lines, null)) exploded as position, part
    lateral view outer inline(array(part)) parts as line, is_inside
    where file_problem is not null or (position > 0 and not is_inside and trim(line) != '')

),

parsed as (

    -- Only lines with the right number of fields: from_csv fails for a line with too many.
    select
        *,
        size(split(unquoted, {{ dbt_delta._literal(pattern) }})) as field_count,
        case when size(split(unquoted, {{ dbt_delta._literal(pattern) }})) = {{ names | length }}
            then from_csv(line, {{ dbt_delta._literal(strings | join(', ')) }}, map(
                'sep', {{ dbt_delta._literal(separator) }}, 'nullValue', {{ dbt_delta._literal(null_value) }},
                'escape', '"', 'columnNameOfCorruptRecord', '__dbt_corrupt'
            ))
        end as fields
    from lines

)
{%- endmacro %}

{# The lines, and the reason why a line is rejected. #}
{% macro _csv_checked_sql(columns, separator, masked) -%}
checked as (

    select
        *,
        coalesce(
            file_problem,
            -- The parser drops it in a quoted field.
            case when instr(line, chr(0)) > 0 then 'a NUL character' end,
            case when not is_utf8 and instr(line, '\uFFFD') > 0 then 'bytes that are not valid UTF-8' end,
            case when unquoted rlike {{ dbt_delta._literal('(^|' ~ modules.re.escape(separator) ~ ')"') }} then 'a quotation mark is not closed on its line' end,
            case when field_count != {{ columns | length }}
                then concat('expected {{ columns | length }} fields, found ', field_count)
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
{%- endmacro %}

{#-
    The lines of a file, each {line, is_inside}. A quoted field begins and ends next to a separator or the end of a line,
    and may have line breaks: then `line` has all of them, and the lines that it goes on in are empty and `is_inside`.
    Possessive patterns need no stack, even with many quotation marks.
-#}
{% macro _csv_lines(text, separator_pattern) -%}
    {%- set field = '(?<=\\A|\\n|' ~ separator_pattern ~ ')"(?:[^"]++|"")*+"'
        ~ '(?=' ~ separator_pattern ~ '|\\r?\\n|\\r?\\z)' -%}
    {%- set record = '((?:' ~ field ~ '|[^"\\n]++|")*+)(?:\\n|\\z)' -%}
if(
            instr({{ text }}, '"') = 0,
            transform(split({{ text }}, '\r?\n'), line -> named_struct('line', line, 'is_inside', false)),
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
