{#
    Spark's types as text, such as struct<a:int,`b c`:array<string>>: as DESCRIBE and typeof() write
    them, but with quotes around the names of fields that need them, so that SQL takes them too.
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

{# What stands between the outermost brackets of a type, split at its commas. #}
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

{# A type as Delta stores it: what has none, as in array() and null, is a string. #}
{% macro _stored_type(type) -%}
    {%- set kind = dbt_delta._type_kind(type) -%}
    {%- if kind == 'atomic' -%}{{- return('string' if type == 'void' else type) -}}{%- endif -%}
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

{# A type as Spark calls it, in lower case and without blanks: long is bigint, numeric(5, 2) decimal(5,2). #}
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

{#
    What turns a column list into another: {kind, path, type, was} with kind add, drop or retype,
    path a list of steps as ALTER TABLE takes them, for nested fields too.
#}
{% macro _column_changes(wanted, found, path=[]) -%}
    {%- set changes = [] -%}
    {%- for column in wanted -%}
        {%- set match = dbt_delta._column(found, column.name) -%}
        {%- if match is none -%}
            {%- do changes.append({'kind': 'add', 'path': path + [column.name], 'type': column.type}) -%}
        {%- else -%}
            {%- do changes.extend(
                dbt_delta._type_changes(column.type, match.type, path + [match.name])
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for column in found if dbt_delta._column(wanted, column.name) is none -%}
        {%- do changes.append({'kind': 'drop', 'path': path + [column.name], 'was': column.type}) -%}
    {%- endfor -%}
    {{- return(changes) -}}
{%- endmacro %}

{% macro _type_changes(wanted, found, path) -%}
    {%- set kind = dbt_delta._type_kind(wanted) -%}
    {%- if wanted | lower == found | lower or wanted == 'void' -%}
        {{- return([]) -}}
    {%- elif kind == 'atomic' or kind != dbt_delta._type_kind(found) -%}
        {{- return([{'kind': 'retype', 'path': path, 'type': wanted, 'was': found}]) -}}
    {%- elif kind == 'struct' -%}
        {{- return(dbt_delta._column_changes(
            dbt_delta._struct_fields(wanted), dbt_delta._struct_fields(found), path
        )) -}}
    {%- endif -%}
    {%- set changes = [] -%}
    {%- set inner = dbt_delta._type_parts(found) -%}
    {%- for step in (['element'] if kind == 'array' else ['key', 'value']) -%}
        {%- do changes.extend(dbt_delta._type_changes(
            dbt_delta._type_parts(wanted)[loop.index0], inner[loop.index0], path + [step]
        )) -%}
    {%- endfor -%}
    {{- return(changes) -}}
{%- endmacro %}

{#
    Whether Delta can widen a column of a type to another (delta.enableTypeWidening). The list is
    that of Delta 4.4's documentation on type widening.
#}
{% macro _widens(narrow, wide) -%}
    {%- set digits = {'tinyint': 3, 'smallint': 5, 'int': 10, 'bigint': 20} -%}
    {%- set order = digits.keys() | list -%}
    {%- if wide.startswith('decimal') -%}
        {%- set to = modules.re.findall('\\d+', wide) | map('int') | list -%}
        {%- if narrow.startswith('decimal') -%}
            {%- set from = modules.re.findall('\\d+', narrow) | map('int') | list -%}
            {{- return(to[1] >= from[1] and to[0] - to[1] >= from[0] - from[1]) -}}
        {%- endif -%}
        {{- return(narrow in digits and to[0] - to[1] >= digits[narrow]) -}}
    {%- elif narrow in digits and wide in digits -%}
        {{- return(order.index(wide) > order.index(narrow)) -}}
    {%- endif -%}
    {{- return((narrow, wide) in (
        ('tinyint', 'double'), ('smallint', 'double'), ('int', 'double'), ('float', 'double'),
        ('date', 'timestamp_ntz'),
    )) -}}
{%- endmacro %}

{# Whether every value of a type can be stored in a column of another as it is. #}
{% macro _fits(type, column_type) -%}
    {%- set texts = modules.re.match('(var)?char\\(', type) is not none and column_type == 'string' -%}
    {{- return(
        type == column_type
        or type == 'void'
        or texts
        or (type, column_type) == ('date', 'timestamp')
        or dbt_delta._widens(type, column_type)
    ) -}}
{%- endmacro %}

{#
    Whether a value, or one in it, is another one once it is stored as another type; empty where none can be.
    Fields that the other type lacks are no matter here. What Spark refuses to store is left to it.
#}
{% macro _altered(expression, type, wanted, depth=0) -%}
    {%- set kind, parts, item = dbt_delta._type_kind(wanted), [], 'x' ~ depth -%}
    {%- if type == wanted or kind != dbt_delta._type_kind(type) -%}{{- return('') -}}{%- endif -%}
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

{# The same of a plain value: what comes back from the other type is not what went there. #}
{% macro _altered_value(expression, type, wanted) -%}
    {%- set number = '(tinyint|smallint|int|bigint|float|double|decimal)\\b' -%}
    {%- set time = '(date|timestamp|timestamp_ntz)$' -%}
    {%- set is_number = modules.re.match(number, type) and modules.re.match(number, wanted) -%}
    {%- set is_time = modules.re.match(time, type) and modules.re.match(time, wanted) -%}
    {%- if dbt_delta._fits(type, wanted) -%}{{- return('') -}}{%- endif -%}
    {%- if type == 'string' -%}{{- return(dbt_delta._misfit(expression, wanted)) -}}{%- endif -%}
    {%- if not is_number and not is_time -%}{{- return('') -}}{%- endif -%}
    {%- set stored = 'try_cast(' ~ expression ~ ' as ' ~ wanted ~ ')' -%}
    {%- if (type, wanted) == ('double', 'float') -%}
        {#- 0.1 is another number as float, and the same digits. -#}
        {{- return('not (cast(' ~ stored ~ ' as string) <=> cast(' ~ expression ~ ' as string))') -}}
    {%- endif -%}
    {{- return('not (try_cast(' ~ stored ~ ' as ' ~ type ~ ') <=> ' ~ expression ~ ')') -}}
{%- endmacro %}

{#
    An expression of one type as another that differs in nested fields: fields by name, missing
    ones those of `kept`, a struct of the wanted type, or NULL; further ones left out. Plain types are left to
    the write, which casts safely.
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

{# A struct made of names and values where an expression is not NULL. #}
{% macro _struct_or_null(expression, parts) -%}
    {{- return('case when ' ~ expression ~ ' is not null then named_struct(' ~ parts | join(', ') ~ ') end') -}}
{%- endmacro %}

{# An expression that is equal for equal values of a type; Spark compares no maps and variants. #}
{% macro _comparable(expression, type, depth=0) -%}
    {%- set kind = dbt_delta._type_kind(type) -%}
    {%- if 'map<' not in type and 'variant' not in type -%}
        {{- return(expression) -}}
    {%- elif kind == 'atomic' -%}
        {#- A text and a date may have one JSON. -#}
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
