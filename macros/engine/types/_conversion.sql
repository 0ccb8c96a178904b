{#
    The condition that a value, or a value in it, changes when it is stored as another type; empty if no value can
    change. Fields that the other type does not have are ignored. Delta casts where Spark would refuse to store: a
    timestamp becomes a number of seconds.
#}
{% macro _altered(expression, type, wanted, depth=0) -%}
    {%- set kind, parts, item = dbt_delta._type_kind(wanted), [], 'x' ~ depth -%}
    {%- if type in (wanted, 'void') or wanted == 'variant' -%}{{- return('') -}}{%- endif -%}
    {%- if kind != dbt_delta._type_kind(type) -%}{{- return(expression ~ ' is not null') -}}{%- endif -%}
    {%- if kind == 'atomic' -%}{{- return(dbt_delta._altered_value(expression, type, wanted)) -}}{%- endif -%}
    {%- if kind == 'struct' -%}
        {%- set fields = dbt_delta._struct_fields(wanted) -%}
        {%- for field in dbt_delta._struct_fields(type) if dbt_delta._column(fields, field.name) is not none -%}
            {%- do parts.append(dbt_delta._altered(
                expression ~ '.' ~ dbt_delta._quoted(field.name), field.type,
                dbt_delta._column(fields, field.name).type, depth + 1
            )) -%}
        {%- endfor -%}
        {{- return(parts | select | join(' or ')) -}}
    {%- endif -%}
    {%- set from, to = dbt_delta._type_parts(type), dbt_delta._type_parts(wanted) -%}
    {%- for path in ([''] if kind == 'array' else ['.key', '.value']) -%}
        {%- do parts.append(dbt_delta._altered(item ~ path, from[loop.index0], to[loop.index0], depth + 1)) -%}
    {%- endfor -%}
    {%- set altered = parts | select | join(' or ') -%}
    {%- set items = expression if kind == 'array' else 'map_entries(' ~ expression ~ ')' -%}
    {{- return('coalesce(exists(' ~ items ~ ', ' ~ item ~ ' -> ' ~ altered ~ '), false)' if altered else '') -}}
{%- endmacro %}

{#
    The same for an atomic value: cast to the other type and back it is another value. Any value is one between other
    types, except as text.
#}
{% macro _altered_value(expression, type, wanted) -%}
    {%- set number = '(boolean|tinyint|smallint|int|bigint|float|double|decimal)\\b' -%}
    {%- set time = '(date|timestamp|timestamp_ntz)$' -%}
    {%- set is_number = modules.re.match(number, type) and modules.re.match(number, wanted) -%}
    {%- set is_time = modules.re.match(time, type) and modules.re.match(time, wanted) -%}
    {%- set becomes_text = type != 'string' and modules.re.match('(string|varchar|char)\\b', wanted) -%}
    {%- if becomes_text or dbt_delta._fits(type, wanted) -%}{{- return('') -}}{%- endif -%}
    {%- if type == 'string' -%}{{- return(dbt_delta._misfit(expression, wanted)) -}}{%- endif -%}
    {%- if not is_number and not is_time -%}{{- return(expression ~ ' is not null') -}}{%- endif -%}
    {%- set stored = 'try_cast(' ~ expression ~ ' as ' ~ wanted ~ ')' -%}
    {%- if (type, wanted) == ('double', 'float') -%}
        {#- 0.1 is another number as float, but has the same digits. -#}
        {{- return('not (cast(' ~ stored ~ ' as string) <=> cast(' ~ expression ~ ' as string))') -}}
    {%- endif -%}
    {{- return('not (try_cast(' ~ stored ~ ' as ' ~ type ~ ') <=> ' ~ expression ~ ')') -}}
{%- endmacro %}

{#
    An expression of one type as another type that differs in nested fields. Fields are matched by name; a missing
    field comes from `kept`, a struct of the wanted type, or is NULL; extra fields are left out. Atomic types are left
    to the write, which casts safely.
#}
{% macro _conformed(expression, type, wanted, depth=0, kept=none) -%}
    {%- set kind = dbt_delta._type_kind(wanted) -%}
    {%- if type | lower == wanted | lower or (depth == 0 and kind == 'atomic') -%}
        {{- return(expression) -}}
    {%- elif kind == 'atomic' or kind != dbt_delta._type_kind(type) -%}
        {{- return('cast(' ~ expression ~ ' as ' ~ wanted ~ ')') -}}
    {%- elif kind == 'struct' -%}
        {%- set found = dbt_delta._struct_fields(type) -%}
        {%- set parts = [] -%}
        {%- for field in dbt_delta._struct_fields(wanted) -%}
            {%- set match = dbt_delta._column(found, field.name) -%}
            {%- set old = kept ~ '.' ~ dbt_delta._quoted(field.name) if kept else none -%}
            {%- if match is none -%}
                {%- set value = old or 'cast(null as ' ~ field.type ~ ')' -%}
            {%- else -%}
                {%- set value = dbt_delta._conformed(
                    expression ~ '.' ~ dbt_delta._quoted(match.name), match.type, field.type, depth + 1, old
                ) -%}
            {%- endif -%}
            {%- do parts.append(dbt_delta._literal(field.name) ~ ', ' ~ value) -%}
        {%- endfor -%}
        {{- return(dbt_delta._struct_or_null(expression, parts)) -}}
    {%- endif -%}
    {%- set from = dbt_delta._type_parts(type) -%}
    {%- set to = dbt_delta._type_parts(wanted) -%}
    {%- if kind == 'array' -%}
        {{- return(
            'transform(' ~ expression ~ ', x' ~ depth ~ ' -> '
            ~ dbt_delta._conformed('x' ~ depth, from[0], to[0], depth + 1) ~ ')'
        ) -}}
    {%- endif -%}
    {{- return(
        'map_from_entries(transform(map_entries(' ~ expression ~ '), x' ~ depth ~ ' -> named_struct('
        ~ "'key', " ~ dbt_delta._conformed('x' ~ depth ~ '.key', from[0], to[0], depth + 1)
        ~ ", 'value', " ~ dbt_delta._conformed('x' ~ depth ~ '.value', from[1], to[1], depth + 1)
        ~ ')))'
    ) -}}
{%- endmacro %}

{# A struct of names and values if an expression is not NULL. #}
{% macro _struct_or_null(expression, parts) -%}
    {{- return('case when ' ~ expression ~ ' is not null then named_struct(' ~ parts | join(', ') ~ ') end') -}}
{%- endmacro %}

{#
    An expression that is equal for equal values of a type. Spark cannot compare maps and variants, and by a collation
    texts that differ may be equal.
#}
{% macro _comparable(expression, type, depth=0) -%}
    {%- set kind = dbt_delta._type_kind(type) -%}
    {%- if 'map<' not in type and 'variant' not in type and ' collate ' not in type -%}
        {{- return(expression) -}}
    {%- elif kind == 'atomic' and 'variant' not in type -%}
        {{- return('collate(' ~ expression ~ ", 'UTF8_BINARY')") -}}
    {%- elif kind == 'atomic' -%}
        {#- A text and a date may have the same JSON. -#}
        {{- return("concat(schema_of_variant(" ~ expression ~ "), ' ', to_json(" ~ expression ~ '))') -}}
    {%- elif kind == 'struct' -%}
        {%- set parts = [] -%}
        {%- for field in dbt_delta._struct_fields(type) -%}
            {%- do parts.append(dbt_delta._literal(field.name) ~ ', ' ~ dbt_delta._comparable(
                expression ~ '.' ~ dbt_delta._quoted(field.name), field.type, depth + 1
            )) -%}
        {%- endfor -%}
        {{- return(dbt_delta._struct_or_null(expression, parts)) -}}
    {%- endif -%}
    {%- set inner = dbt_delta._type_parts(type) -%}
    {%- set item = 'x' ~ depth -%}
    {%- if kind == 'array' -%}
        {{- return(
            'transform(' ~ expression ~ ', ' ~ item ~ ' -> '
            ~ dbt_delta._comparable(item, inner[0], depth + 1) ~ ')'
        ) -}}
    {%- endif -%}
    {{- return(
        'array_sort(transform(map_entries(' ~ expression ~ '), ' ~ item ~ " -> named_struct('key', "
        ~ dbt_delta._comparable(item ~ '.key', inner[0], depth + 1) ~ ", 'value', "
        ~ dbt_delta._comparable(item ~ '.value', inner[1], depth + 1) ~ ')))'
    ) -}}
{%- endmacro %}
