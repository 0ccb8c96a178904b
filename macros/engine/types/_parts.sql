{#
    Spark's types as text, such as struct<a:int,`b c`:array<string>>: as in DESCRIBE and typeof(), but with quotes
    around names of fields that need them, so that the text is valid SQL.
#}

{# Fields of a struct type, in order: a list of {name, type}. #}
{% macro _struct_fields(type) -%}
    {%- set fields = [] -%}
    {%- for part in dbt_delta._type_parts(type) -%}
        {%- set field = modules.re.match('(?s)(?:`((?:[^`]|``)*)`|([^:`]*)):(.*)', part) -%}
        {%- set quoted, plain, field_type = field.groups() -%}
        {%- do fields.append({
            'name': plain if quoted is none else quoted | replace('``', '`'), 'type': field_type | trim,
        }) -%}
    {%- endfor -%}
    {{- return(fields) -}}
{%- endmacro %}

{# The text between the outermost brackets of a type, split at its commas. #}
{% macro _type_parts(type) -%}
    {%- set body = type[type.index('<') + 1:-1] -%}
    {%- set at = namespace(depth=0, start=0) -%}
    {%- set parts = [] -%}
    {%- for mark in modules.re.finditer('`(?:[^`]|``)*`|[<>(),]', body ~ ',') -%}
        {%- if mark.group() in ('<', '(') -%}
            {%- set at.depth = at.depth + 1 -%}
        {%- elif mark.group() in ('>', ')') -%}
            {%- set at.depth = at.depth - 1 -%}
        {%- elif mark.group() == ',' and at.depth == 0 -%}
            {%- do parts.append(body[at.start:mark.start()] | trim) -%}
            {%- set at.start = mark.end() -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(parts if body else []) -}}
{%- endmacro %}

{# The type of a struct of {name, type}. #}
{% macro _struct_type(fields) -%}
    {%- set parts = [] -%}
    {%- for field in fields -%}
        {%- set is_plain = modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', field.name) is not none -%}
        {%- do parts.append((field.name if is_plain else dbt_delta._quoted(field.name)) ~ ':' ~ field.type) -%}
    {%- endfor -%}
    {{- return('struct<' ~ parts | join(',') ~ '>') -}}
{%- endmacro %}

{# A type as Delta stores it: a value without a type, as in array() and null, is a string. #}
{% macro _stored_type(type) -%}
    {%- set kind = dbt_delta._type_kind(type) -%}
    {%- if kind == 'atomic' -%}{{- return(dbt_delta._in_format('stored_type')(type)) -}}{%- endif -%}
    {%- set parts = [] -%}
    {%- if kind == 'struct' -%}
        {%- for field in dbt_delta._struct_fields(type) -%}
            {%- do parts.append({'name': field.name, 'type': dbt_delta._stored_type(field.type)}) -%}
        {%- endfor -%}
        {{- return(dbt_delta._struct_type(parts)) -}}
    {%- endif -%}
    {%- for part in dbt_delta._type_parts(type) -%}{%- do parts.append(dbt_delta._stored_type(part)) -%}{%- endfor -%}
    {{- return(kind ~ '<' ~ parts | join(',') ~ '>') -}}
{%- endmacro %}

{# Spark's name of a type, in lower case and without blanks: long is bigint, numeric(5, 2) is decimal(5,2). #}
{% macro _type_name(type) -%}
    {%- set name = (type or '') | lower | replace(' ', '') -%}
    {%- set head = name.split('(')[0] -%}
    {{- return({
        'integer': 'int', 'long': 'bigint', 'short': 'smallint', 'byte': 'tinyint', 'real': 'float',
        'dec': 'decimal', 'numeric': 'decimal', 'timestamp_ltz': 'timestamp',
    }.get(head, head) ~ name[head | length:]) -}}
{%- endmacro %}

{# struct, array, map or atomic #}
{% macro _type_kind(type) -%}
    {%- for kind in ('struct', 'array', 'map') -%}
        {%- if type.startswith(kind ~ '<') -%}{{- return(kind) -}}{%- endif -%}
    {%- endfor -%}
    {{- return('atomic') -}}
{%- endmacro %}
