{#
    The changes from one list of columns to another, also of nested fields: {kind, path, type, was}. `kind` is add,
    drop or retype; `path` is a list of steps, as ALTER TABLE needs them.
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
    {%- if wanted | lower == found | lower or wanted == 'void'
        or (kind == 'atomic' and dbt_delta._stored_type(wanted) == found) -%}
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

{# Whether a column can be widened from one type to another. #}
{% macro _widens(narrow, wide) -%}{{- return(dbt_delta._in_format('widens')(narrow, wide)) -}}{%- endmacro %}

{# Whether a column of another type can store every value of a type unchanged. #}
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

{# A change of a column as one line. #}
{% macro _schema_text(change) -%}
    {%- set name = change.path | join('.') -%}
    {{- return(
        '+ ' ~ name ~ ' ' ~ change.type if change.kind == 'add' else '- ' ~ name if change.kind == 'drop'
        else name ~ ' ' ~ change.was ~ ' -> ' ~ change.type
    ) -}}
{%- endmacro %}
