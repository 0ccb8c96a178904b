{# dbt.split_part: dbt-spark's takes the delimiter for a regular expression, and fails where there is no such part. #}
{% macro spark__split_part(string_text, delimiter_text, part_number) -%}
    split_part({{ string_text }}, {{ delimiter_text }}, {{ part_number }})
{%- endmacro %}

{#
    dbt.listagg: dbt-spark's leaves the order out, with a warning. A limit cuts texts that a character divides which no
    text has.
#}
{% macro spark__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
    {%- if not order_by_clause -%}
        {%- set texts = 'collect_list(' ~ measure ~ ')' -%}
        {%- set texts = 'slice(' ~ texts ~ ', 1, ' ~ limit_num ~ ')' if limit_num else texts -%}
        {{- return('array_join(' ~ texts ~ ', ' ~ delimiter_text ~ ')') -}}
    {%- endif -%}
    {%- set between = "'\\u001f'" if limit_num else delimiter_text -%}
    {%- set all = 'listagg(' ~ measure ~ ', ' ~ between ~ ') within group (' ~ order_by_clause ~ ')' -%}
    {%- set texts = 'slice(split(' ~ all ~ ', ' ~ between ~ '), 1, ' ~ limit_num ~ ')' -%}
    {{- return("coalesce(" ~ ('array_join(' ~ texts ~ ', ' ~ delimiter_text ~ ')' if limit_num else all) ~ ", '')") -}}
{%- endmacro %}

{# dbt.escape_single_quotes, for dbt's unit tests also: dbt-spark's leaves backslashes and ${, which Spark reads. #}
{% macro spark__escape_single_quotes(expression) -%}
    {{- dbt_delta._literal(expression)[1:-1] -}}
{%- endmacro %}

{# dbt_expectations.regexp_instr, whose own for Spark leaves flags out, and the backslashes of a raw expression. #}
{% macro spark__regexp_instr(source_value, regexp, position, occurrence, is_raw, flags) -%}
    {%- if (position, occurrence) != (1, 1) -%}
        {%- do dbt_delta._refuse(
            'dbt_expectations.regexp_instr: Spark finds the first match from the beginning only. Got: position '
            ~ position ~ ', occurrence ' ~ occurrence
        ) -%}
    {%- endif -%}
    {%- set pattern = ('(?' ~ flags ~ ')' if flags else '') ~ regexp -%}
    regexp_instr({{ source_value }}, {{ dbt_delta._literal(pattern) if is_raw else "'" ~ pattern ~ "'" }})
{%- endmacro %}
