{# The rows of Parquet and ORC files; see landed_files. `found` are the columns of the files, {name, type}. #}

{# All columns of the files, for FROM. #}
{% macro _columnar_from(format, path) -%}
    {{- return(
        format ~ '.' ~ dbt_delta._quoted(dbt_delta._plain_glob(path))
        ~ " with ('recursiveFileLookup' = 'true', 'mergeSchema' = 'true')"
    ) -}}
{%- endmacro %}

{#
    The CTE of files with their hashes. The content of a large file is not read a second time: its name, time and size
    stand for it.
#}
{% macro _columnar_files_sql(path, files) -%}
{%- set from = 'binaryFile.' ~ dbt_delta._quoted(dbt_delta._plain_glob(path))
    ~ " with ('recursiveFileLookup' = 'true')" -%}
{%- set limit = 256 * 1024 * 1024 -%}
files as (

    select
        _metadata.file_path as path,
        {{ dbt_delta._file_columns() }},
        sha2(content, 256) as _file_hash
    from {{ from }}
    where length <= {{ limit }} and {{ dbt_delta._in_files(files) }}
    union all
    select
        _metadata.file_path as path,
        {{ dbt_delta._file_columns() }},
        sha2(concat_ws('/', _metadata.file_path, modificationTime, length), 256) as _file_hash
    from {{ from }}
    where length > {{ limit }} and {{ dbt_delta._in_files(files) }}

)
{%- endmacro %}

{#
    The rows, and the reason why a row is rejected. A file without rows leaves one, with the reason. Columns have
    numbers here: their names may be those of the ledger.
#}
{% macro _columnar_checked_sql(format, path, files, found, wanted, masked) -%}
{%- set names, numbered = [], [] -%}
{%- for column in dbt_delta._numbered_columns(found) -%}
    {%- do names.append(column.value) -%}
    {%- do numbered.append(dbt_delta._quoted(column.name) ~ ' as ' ~ column.value) -%}
{%- endfor -%}
{%- if found %}
rows as (

    select
        {{ numbered | join(', ') }},
        _metadata.file_path as path,
        {{ '_metadata.row_index + 1' if format == 'parquet' else 'cast(null as bigint)' }} as _line
    from {{ dbt_delta._columnar_from(format, path) }}
    where {{ dbt_delta._in_files(files) }}

),
{%- endif %}

judged_rows as (
    {% if found %}
    select /*+ broadcast(judged) */
        judged.*,
        {{ (names + ['_line']) | join(', ') }}
    from judged
    inner join rows
        on judged.path = rows.path
    where file_problem is null
    union all
    {%- endif %}
    select
        * except (file_problem),
        coalesce(file_problem, 'the file has no rows') as file_problem,
        {% for column in found %}cast(null as {{ column.type }}), {% endfor %}0 as _line
    from judged
    {%- if found %}
    where file_problem is not null or path not in (select distinct path from rows)
    {%- endif %}

),

checked as (

    select
        *,
        case when file_problem is null
            then {{ dbt_delta._columnar_json(dbt_delta._numbered_columns(found)) }}
        end as line,
        coalesce(
            file_problem,
            nullif(concat_ws(
                '; ',
                {{ (dbt_delta._misfit_reasons(wanted, masked) + ['null']) | join(',\n                ') }}
            ), '')
        ) as _rejected_reason
    from judged_rows

)
{%- endmacro %}

{# The columns of the files with the `value` that stands for each in the CTEs. #}
{% macro _numbered_columns(found) -%}
    {%- set columns = [] -%}
    {%- for column in found -%}{%- do columns.append(dict(column, value='`c' ~ loop.index ~ '`')) -%}{%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{# Such columns as JSON, with all digits of times; NULL without columns. #}
{% macro _columnar_json(columns) -%}
    {%- if not columns -%}{{- return('cast(null as string)') -}}{%- endif -%}
    {%- set fields, time = [], "yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS" -%}
    {%- for column in columns -%}
        {%- do fields.append(dbt_delta._literal(column.name) ~ ', ' ~ column.value) -%}
    {%- endfor -%}
    {{- return(
        'to_json(named_struct(' ~ fields | join(', ') ~ "), map('timestampFormat', '" ~ time ~ "XXX', "
        ~ "'timestampNTZFormat', '" ~ time ~ "'))"
    ) -}}
{%- endmacro %}

{#
    The wanted columns by name, as _json_value describes them; a column that the files do not have is NULL. Refuses a
    column whose values cannot be taken over one by one.
#}
{% macro _columnar_values(columns, found) -%}
    {%- set wanted, known = {}, {} -%}
    {%- for column in dbt_delta._numbered_columns(found) -%}
        {%- do known.update({column.name | lower: column}) -%}
    {%- endfor -%}
    {%- for name, type in columns.items() -%}
        {%- set own = known.get(name | lower) -%}
        {%- if own is none -%}
            {%- do wanted.update({name: {'type': type, 'value': 'cast(null as ' ~ type ~ ')', 'misfit': ''}}) -%}
        {%- elif dbt_delta._type_name(own.type) == dbt_delta._type_name(type) -%}
            {%- do wanted.update({name: {'type': type, 'value': own.value, 'misfit': ''}}) -%}
        {%- elif 'atomic' != dbt_delta._type_kind(own.type) or 'atomic' != dbt_delta._type_kind(type | lower)
            or 'binary' in (own.type, type | lower) -%}
            {%- do dbt_delta._refuse(
                'dbt_delta.landed_files: column ' ~ name ~ ' is ' ~ own.type ~ ' in the files, not ' ~ type
                ~ '. Give it the type of the files, and cast it in the next model.'
            ) -%}
        {%- else -%}
            {%- set text = 'cast(' ~ own.value ~ ' as string)' -%}
            {%- do wanted.update({name: {
                'type': type, 'value': 'try_cast(' ~ text ~ ' as ' ~ type ~ ')', 'text': text,
                'misfit': dbt_delta._misfit(text, type),
            }}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(wanted) -}}
{%- endmacro %}

{# The columns of the files that are not wanted, {name, type, value}. #}
{% macro _columnar_unknown(columns, found) -%}
    {%- set names, unknown = columns.keys() | map('lower') | list, [] -%}
    {%- for column in dbt_delta._numbered_columns(found) if column.name | lower not in names -%}
        {%- do unknown.append(column) -%}
    {%- endfor -%}
    {{- return(unknown) -}}
{%- endmacro %}
