{# The lines of JSON files, an object each, as rows; see landed_files. #}

{# The lines with their fields; NULL for a line that is not one object, or has a field twice. #}
{% macro _json_fields_sql() -%}
parsed as (

    -- Spark reads one value and ignores what follows it: no text can follow a value inside two kinds of brackets.
    select
        *,
        case when try_parse_json(concat('{"line":', line, '}')) is not null
            then try_variant_get(try_parse_json(concat('[', line, ']')), '$[0]', 'map<string,variant>')
        end as fields,
        {{ dbt_delta._has_inexact_numbers() }} as has_inexact
    from lines

)
{%- endmacro %}

{#
    The condition that a line has a number that Spark reads as a double, which may have other digits: one with an
    exponent, or with more than 38 digits.
#}
{% macro _has_inexact_numbers() -%}
    {%- set number = dbt_delta._literal('[0-9][eE]|[0-9.]{39}') -%}
    {%- set texts = dbt_delta._literal('"(?:[^"\\\\]|\\\\.)*+"') -%}
    {{- return(
        'line rlike ' ~ number ~ ' and regexp_replace(line, ' ~ texts ~ ", '') rlike " ~ number
    ) -}}
{%- endmacro %}

{# The lines, and the reason why a line is rejected. `wanted` has a record of _json_value by the names of columns. #}
{% macro _json_checked_sql(wanted, drift, masked) -%}
checked as (

    select
        *,
        coalesce(
            file_problem,
            case when not is_utf8 and instr(line, '\uFFFD') > 0 then 'bytes that are not valid UTF-8' end,
            case when fields is null then 'it is not one JSON object, or has a name twice' end,
            -- Spark reads it as a question mark.
            case when {{ dbt_delta._has_half_characters() }} then 'half of a character, such as \\ud83d' end,
            nullif(concat_ws(
                '; ',
                {{ (dbt_delta._misfit_reasons(wanted, masked)
                    + (dbt_delta._json_rescue_reasons(wanted) if drift == 'rescue'
                        else dbt_delta._json_drift_reasons(wanted)) + ['null'])
                    | join(',\n                ') }}
            ), '')
        ) as _rejected_reason
    from parsed

)
{%- endmacro %}

{# The reasons why a line is rejected that has more fields than the columns take. #}
{% macro _json_drift_reasons(wanted) -%}
    {%- set reasons, unknown = [], dbt_delta._json_unknown(wanted) -%}
    {%- for name, field in wanted.items() if field.extra -%}
        {%- do reasons.append(
            'case when ' ~ field.extra ~ ' then '
            ~ dbt_delta._literal(name ~ ': it has fields that its type does not have') ~ ' end'
        ) -%}
    {%- endfor -%}
    {{- return(reasons + [
        'case when size(' ~ unknown ~ ") > 0 then concat('unknown fields: ', array_join(array_sort(" ~ unknown
        ~ "), ', ')) end"
    ]) -}}
{%- endmacro %}

{# The condition that a line has an escape of half a character alone; \\ud83d is a backslash and a word. #}
{% macro _has_half_characters() -%}
    {%- set digits = '[0-9a-fA-F]{2}' -%}
    {%- set high, low = '\\\\[u][dD][89abAB]' ~ digits, '\\\\[u][dD][c-fC-F]' ~ digits -%}
    {{- return(
        'replace(line, ' ~ dbt_delta._literal('\\\\') ~ ", ' ') rlike "
        ~ dbt_delta._literal(high ~ '(?!' ~ low ~ ')|(?<!' ~ high ~ ')' ~ low)
    ) -}}
{%- endmacro %}

{# The names in a line that are not those of columns. #}
{% macro _json_unknown(wanted) -%}
    {%- set names = [] -%}
    {%- for name in wanted -%}{%- do names.append(dbt_delta._literal(name)) -%}{%- endfor -%}
    {{- return('array_except(map_keys(fields), array(' ~ names | join(', ') ~ '))') -}}
{%- endmacro %}

{# The reason why a line is rejected whose further fields would change on their way into `_rescued`. #}
{% macro _json_rescue_reasons(wanted) -%}
    {{- return([
        'case when exists(map_values(' ~ dbt_delta._json_further(wanted) ~ '), value -> '
        ~ dbt_delta._is_inexact('value')
        ~ ") then 'unknown fields have a number with an exponent or more than 38 digits' end"
    ]) -}}
{%- endmacro %}

{# What has no column, as JSON: unknown fields, and columns with fields that their type has not; NULL for nothing. #}
{% macro _json_rescued(wanted) -%}
    {{- return('nullif(to_json(' ~ dbt_delta._json_further(wanted) ~ "), '{}')") -}}
{%- endmacro %}

{# The same as a map of variants. #}
{% macro _json_further(wanted) -%}
    {%- set kept = ['array_contains(' ~ dbt_delta._json_unknown(wanted) ~ ', name)'] -%}
    {%- for name, field in wanted.items() if field.extra -%}
        {%- do kept.append('(name = ' ~ dbt_delta._literal(name) ~ ' and ' ~ field.extra ~ ')') -%}
    {%- endfor -%}
    {{- return('map_filter(fields, (name, value) -> ' ~ kept | join(' or ') ~ ')') -}}
{%- endmacro %}

{#
    A variant as a value of a type: {type, value, text, misfit, extra}. `misfit` is the condition that it does not fit,
    by the rules of seeds, `extra` that it has fields which the type has not; each may be empty.
#}
{% macro _json_value(variant, type, depth=0) -%}
    {%- set kind, text = dbt_delta._type_kind(type | lower), 'try_variant_get(' ~ variant ~ ", '$', 'string')" -%}
    {%- set about = {'type': type, 'text': text} -%}
    {%- if kind == 'atomic' -%}
        {{- return(dict(about, **dbt_delta._json_scalar(variant, text, type))) -}}
    {%- endif -%}
    {%- set holder = 'try_variant_get(' ~ variant ~ ", '$', '"
        ~ ('array<variant>' if kind == 'array' else 'map<string,variant>') ~ "')" -%}
    {%- set wrong = variant ~ ' is not null and not is_variant_null(' ~ variant ~ ') and ' ~ holder ~ ' is null' -%}
    {%- if kind == 'struct' -%}
        {{- return(dict(about, **dbt_delta._json_struct(holder, wrong, type, depth))) -}}
    {%- endif -%}
    {%- set item, parts = 'item_' ~ depth, dbt_delta._type_parts(type) -%}
    {%- if kind == 'map' and dbt_delta._type_name(parts[0]) != 'string' -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.landed_files: ' ~ type ~ ' has keys of type ' ~ parts[0]
            ~ '. JSON has only names: use map<string, ..>.'
        ) -%}
    {%- endif -%}
    {%- set inner = dbt_delta._json_value(item, parts[-1], depth + 1) -%}
    {%- set items = holder if kind == 'array' else 'map_values(' ~ holder ~ ')' -%}
    {{- return(dict(
        about,
        value='transform(' ~ holder ~ ', ' ~ item ~ ' -> ' ~ inner.value ~ ')' if kind == 'array'
            else 'transform_values(' ~ holder ~ ', (name, ' ~ item ~ ') -> ' ~ inner.value ~ ')',
        misfit='(' ~ wrong ~ ')'
            ~ (' or exists(' ~ items ~ ', ' ~ item ~ ' -> ' ~ inner.misfit ~ ')' if inner.misfit else ''),
        extra='exists(' ~ items ~ ', ' ~ item ~ ' -> ' ~ inner.extra ~ ')' if inner.extra else '',
    )) -}}
{%- endmacro %}

{# The same for a type without parts. A number that Spark reads as a double is only for floating-point numbers. #}
{% macro _json_scalar(variant, text, type) -%}
    {%- set kind = dbt_delta._type_name(type) -%}
    {%- if kind == 'variant' -%}{{- return({'value': variant, 'misfit': '', 'extra': ''}) -}}{%- endif -%}
    {%- set inexact = dbt_delta._is_inexact(variant)
        ~ (" and " ~ text ~ " rlike 'Inf|^0.0$'" if kind in ('float', 'double') else '') -%}
    {%- set misfit = dbt_delta._misfit(text, type) -%}
    {{- return({
        'value': 'try_cast(' ~ text ~ ' as ' ~ type ~ ')', 'extra': '',
        'text': 'concat(' ~ text ~ ', if(' ~ inexact
            ~ ", ', in a line with a number with an exponent or more than 38 digits,', ''))",
        'misfit': '(' ~ inexact ~ (' or (' ~ misfit ~ ')' if misfit else '') ~ ')',
    }) -}}
{%- endmacro %}

{# The condition that a value has, or may have, a number that Spark reads as a double; arrays may hide the types. #}
{% macro _is_inexact(variant) -%}
    {{- return('has_inexact and schema_of_variant(' ~ variant ~ ") rlike 'DOUBLE|VARIANT'") -}}
{%- endmacro %}

{# The same for a struct; `holder` is its map of variants, and `wrong` the condition that it is something else. #}
{% macro _json_struct(holder, wrong, type, depth) -%}
    {%- set values, names, misfits, extras = [], [], ['(' ~ wrong ~ ')'], [] -%}
    {%- for field in dbt_delta._struct_fields(type) -%}
        {%- set name = dbt_delta._literal(field.name) -%}
        {%- set inner = dbt_delta._json_value(holder ~ '[' ~ name ~ ']', field.type, depth) -%}
        {%- do names.append(name) -%}
        {%- do values.append(name ~ ', ' ~ inner.value) -%}
        {%- if inner.misfit -%}{%- do misfits.append(inner.misfit) -%}{%- endif -%}
        {%- if inner.extra -%}{%- do extras.append(inner.extra) -%}{%- endif -%}
    {%- endfor -%}
    {%- do extras.append(
        'coalesce(size(array_except(map_keys(' ~ holder ~ '), array(' ~ names | join(', ') ~ '))), 0) > 0'
    ) -%}
    {{- return({
        'value': 'if(' ~ holder ~ ' is null, null, named_struct(' ~ values | join(', ') ~ '))',
        'misfit': '(' ~ misfits | join(' or ') ~ ')', 'extra': '(' ~ extras | join(' or ') ~ ')',
    }) -}}
{%- endmacro %}

{# The names of fields that are not among the columns. #}
{% macro _new_fields_sql(path, files, large, columns) -%}
with {{ dbt_delta._text_files_sql(path, files, dbt_delta._cut_lines(), large) }},

judged as (

    select *, cast(null as string) as file_problem from files

),

{{ dbt_delta._kept_lines_sql(large, "trim(line) != ''") }},

{{ dbt_delta._json_fields_sql() }}

select distinct name
from parsed
lateral view explode(map_keys(fields)) names as name
where name not in ({{ dbt_delta._literals(columns) | join(', ') }})
order by name
{%- endmacro %}
