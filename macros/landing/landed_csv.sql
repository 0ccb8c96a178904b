{#
    A SELECT of the lines of all CSV files in a landing folder that the model has not loaded yet. Use it in an append
    model; the table is its own ledger (see _landing__macros.yml).
#}
{% macro landed_csv(folder, columns, null_value='', separator=',') -%}
    {%- do dbt_delta._check_landed_arguments(columns, separator) -%}
    {%- set folder = folder.strip('/') -%}
    {%- set path = dbt_delta.landing_dir() ~ '/' ~ folder -%}
    {%- set ledger = this if is_incremental() else none -%}
    {#- The plugin asks for the SELECT of a run that finds no file; see src/dbt_delta/state/build.py. -#}
    {%- set is_listed = execute and dbt_delta_nothing_landed is not defined -%}
    {%- set files = dbt_delta._unseen_files(path, folder, ledger) if is_listed else [] -%}
    {%- if ledger is not none and not files -%}
        select * from {{ ledger }} where false
    {%- else -%}
        {{- dbt_delta.get_landed_csv_sql(
            path, columns, files, ledger, null_value, separator,
            dbt_delta._masked_here() if execute else []
        ) -}}
    {%- endif -%}
{%- endmacro %}

{#- Refuses what would fail with a raw error or without one: duplicate names, unusable separators. -#}
{% macro _check_landed_arguments(columns, separator) -%}
    {%- if columns is not mapping or not columns -%}
        {%- do exceptions.raise_compiler_error(
            "dbt_delta.landed_csv needs columns as a mapping of name to type, "
            ~ "such as {'id': 'bigint'}. Got: " ~ columns
        ) -%}
    {%- endif -%}
    {%- set own = ['_file', '_line', '_file_modified_at', '_file_size', '_file_hash', '_load_id',
        '_rejected_reason', '_rejected_line'] -%}
    {%- set seen = [] -%}
    {%- for name in columns -%}
        {%- if name | lower in own -%}
            {%- do exceptions.raise_compiler_error(
                "dbt_delta.landed_csv: columns has the name '" ~ name ~ "', which the macro gives to a column that "
                ~ "it adds (" ~ own | join(', ') ~ "). Rename it in the source"
            ) -%}
        {%- elif name | lower in seen -%}
            {%- do exceptions.raise_compiler_error(
                "dbt_delta.landed_csv: columns has the name '" ~ name ~ "' twice; a table does not "
                ~ "distinguish upper and lower case. Rename one of them in the source"
            ) -%}
        {%- endif -%}
        {%- do seen.append(name | lower) -%}
    {%- endfor -%}
    {%- if separator is not string or not separator or modules.re.search('[\\\\"\r\n]', separator) -%}
        {%- do exceptions.raise_compiler_error(
            "dbt_delta.landed_csv: separator must be text such as ',', ';' or '|', without a backslash, a quotation "
            ~ "mark or the end of a line. Got: " ~ separator ~ ". A tab is written \"\\t\" in Jinja"
        ) -%}
    {%- endif -%}
{%- endmacro %}

{% macro get_landed_csv_sql(path, columns, files, ledger=none, null_value='', separator=',', masked=[]) -%}
{%- set names = columns.keys() | list %}
with {{ dbt_delta._csv_files_sql(path, files, separator) }},

{{ dbt_delta._csv_judged_sql(names | join(separator), ledger, masked) }},

{{ dbt_delta._csv_fields_sql(names, null_value, separator) }},

{{ dbt_delta._csv_checked_sql(columns, separator, masked) }}

select
    {%- for name, type in columns.items() %}
    case when _rejected_reason is null then try_cast(fields.{{ dbt_delta._quoted(name) }} as {{ type }}) end
        as {{ dbt_delta._quoted(name) }},
    {%- endfor %}
    _file,
    _line,
    _file_modified_at,
    _file_size,
    _file_hash,
    {% if ledger is not none -%}
    (select coalesce(max(_load_id), 0) + 1 from {{ ledger }})
    {%- else -%}
    cast(1 as bigint)
    {%- endif %} as _load_id,
    _rejected_reason,
    case when _rejected_reason is not null then line end as _rejected_line
from checked
{%- endmacro %}
