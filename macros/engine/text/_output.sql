{# Seconds in the largest whole unit. #}
{% macro _duration(seconds) -%}
    {%- for size, unit in ((86400, 'd'), (3600, 'h'), (60, 'min')) -%}
        {%- if seconds >= size -%}{{- return((seconds // size) | int ~ ' ' ~ unit) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(seconds | int ~ ' s') -}}
{%- endmacro %}

{# Prints lines as a table with headings; numbers are right-aligned. #}
{% macro _print_table(headings, lines) -%}
    {%- set widths = {} -%}
    {%- set numbers = [] -%}
    {%- for heading in headings -%}
        {%- set texts = [heading] -%}
        {%- for line in lines -%}
            {%- do texts.append(dbt_delta._cell(line[heading])) -%}
            {%- if line[heading] is number -%}{%- do numbers.append(heading) -%}{%- endif -%}
        {%- endfor -%}
        {%- do widths.update({heading: texts | map('length') | max}) -%}
    {%- endfor -%}
    {%- for line in [none] + lines -%}
        {%- set cells = [] -%}
        {%- for heading in headings -%}
            {%- set text = heading if line is none else dbt_delta._cell(line[heading]) -%}
            {%- do cells.append(
                text.rjust(widths[heading]) if heading in numbers else text.ljust(widths[heading])
            ) -%}
        {%- endfor -%}
        {%- do print((cells | join('  ')).rstrip()) -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _cell(value) -%}
    {{- return('' if value is none else '{:,}'.format(value) if value is number else value | string) -}}
{%- endmacro %}

{# Lines as a Markdown table with headings; numbers are right-aligned. #}
{% macro _markdown_table(headings, lines) -%}
    {%- set titles, rules = [], [] -%}
    {%- for heading in headings -%}
        {%- do titles.append(heading | replace('_', ' ')) -%}
        {%- do rules.append('--:' if lines | map(attribute=heading) | select('number') | list else '---') -%}
    {%- endfor -%}
    {%- set parts = ['| ' ~ titles | join(' | ') ~ ' |', '|' ~ rules | join('|') ~ '|'] -%}
    {%- for line in lines -%}
        {%- set cells = [] -%}
        {%- for heading in headings -%}
            {%- do cells.append(dbt_delta._markdown_cell(dbt_delta._cell(line[heading]))) -%}
        {%- endfor -%}
        {%- do parts.append('| ' ~ cells | join(' | ') ~ ' |') -%}
    {%- endfor -%}
    {{- return(parts | join('\n')) -}}
{%- endmacro %}

{% macro _markdown_cell(text) -%}
    {{- return(text | replace('|', '\\|') | replace('\n', ' ')) -}}
{%- endmacro %}

{% macro _markdown_code(text) -%}
    {{- return('`` ' ~ text ~ ' ``') -}}
{%- endmacro %}

{% macro _share(part, whole) -%}
    {{- return(('%.0f' % (100 * part / ([1, whole] | max))) ~ ' %') -}}
{%- endmacro %}

{# A number of bytes in the largest suitable unit. #}
{% macro _bytes(count) -%}
    {%- for unit, size in (('GB', 1000000000), ('MB', 1000000), ('kB', 1000)) if count >= size -%}
        {{- return('{:,.1f} '.format(count / size) ~ unit) -}}
    {%- endfor -%}
    {{- return(count ~ ' bytes') -}}
{%- endmacro %}

{# A number of files with its noun. #}
{% macro _files(count) -%}
    {{- return('1 file' if count == 1 else '{:,} files'.format(count)) -}}
{%- endmacro %}

{# A number of hours, or of days from two days on. #}
{% macro _hours_text(hours) -%}
    {%- if hours >= 48 -%}{{- return(('%.1f' % (hours / 24)).rstrip('0').rstrip('.') ~ ' days') -}}{%- endif -%}
    {{- return(('%.2f' % hours).rstrip('0').rstrip('.') ~ ' hours') -}}
{%- endmacro %}
