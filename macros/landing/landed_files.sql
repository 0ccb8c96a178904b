{#
    A SELECT of what is in the files of a landing folder that the model has not loaded yet. Use it in an append model;
    the table is its own ledger (see _landing__macros.yml).
#}
{% macro landed_files(folder, format, columns=none, drift='fail', separator=',', null_value='') -%}
    {%- do dbt_delta._check_landed_files(format, columns, drift, separator, null_value) -%}
    {%- set required = (columns or {}).keys() | list -%}
    {%- set landing = dbt_delta._landing(folder, 'landed_files') -%}
    {%- if landing.ledger is not none and not landing.files -%}
        select * from {{ landing.ledger }} where false
    {%- else -%}
        {%- set found = dbt_delta._loaded_columns(landing, format) if execute else [] -%}
        {%- set columns = dbt_delta._landed_columns(landing, format, columns, found, drift, separator) -%}
        {%- set masked = dbt_delta._masked_here() if execute else [] -%}
        {{- dbt_delta.get_landed_csv_sql(
            landing.path, columns, landing.files, landing.ledger, null_value, separator, masked, drift, required, landing.large
        ) if format == 'csv' else dbt_delta.get_landed_files_sql(
            landing.path, format, columns, landing.files, landing.ledger, found, drift, landing.large, masked
        ) -}}
        {%- do dbt_delta._check_ledger(landing, columns.keys() | list + (['_rescued'] if drift == 'rescue' else [])) -%}
    {%- endif -%}
{%- endmacro %}

{% macro _check_landed_files(format, columns, drift, separator, null_value) -%}
    {%- do dbt_delta._check_choice(
        'dbt_delta.landed_files: format', format, ['csv', 'json', 'parquet', 'orc', 'text']
    ) -%}
    {%- do dbt_delta._check_choice('dbt_delta.landed_files: drift', drift, ['fail', 'add', 'rescue']) -%}
    {%- if format != 'csv' and (separator, null_value) != (',', '') -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.landed_files: separator and null_value are for files of format csv. Remove them.'
        ) -%}
    {%- elif format == 'text' and (columns is not none or drift != 'fail') -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.landed_files: files of format text have one column, value. Remove columns and drift.'
        ) -%}
    {%- elif columns is none and format in ('parquet', 'orc', 'text') -%}
        {{- return('') -}}
    {%- elif columns is not mapping or not columns -%}
        {%- do dbt_delta._refuse(
            "dbt_delta.landed_files needs columns as a mapping of name to type, such as {'id': 'bigint'}. Got: "
            ~ columns
        ) -%}
    {%- elif drift == 'add' and execute
        and config.get('on_schema_change') not in ('append_new_columns', 'sync_all_columns') -%}
        {%- do dbt_delta._refuse(
            "dbt_delta.landed_files: drift is 'add', which needs on_schema_change: append_new_columns in the config of "
            ~ 'the model.'
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._check_landed_columns(columns, 'landed_files', ['_rescued']) -%}
    {%- do dbt_delta._check_separator(separator, 'landed_files') -%}
{%- endmacro %}

{#
    The columns that a load gives. To those of the model it adds what the table has had from earlier files, and what is
    new in these files.
#}
{% macro _landed_columns(landing, format, columns, found, drift, separator=',') -%}
    {%- if format == 'text' or not execute -%}{{- return(columns or {}) -}}{%- endif -%}
    {%- if columns is none and not landing.files -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.landed_files found no files in ' ~ landing.path ~ ' that say which columns they have. '
            ~ 'Land files first, or name the columns.'
        ) -%}
    {%- endif -%}
    {%- set all = dict(columns or {}) -%}
    {%- set unknown = dbt_delta._columnar_unknown(all, found) -%}
    {%- if columns is none or drift == 'add' -%}
        {%- set names = all.keys() | map('lower') | list + dbt_delta._ledger_columns() + ['_rescued'] -%}
        {%- set ledger = landing.ledger -%}
        {%- set known = dbt_delta._columns_of('select * from ' ~ ledger) if ledger is not none else [] -%}
        {%- for column in known if column.name | lower not in names -%}
            {%- do all.update({column.name: column.type}) -%}
            {%- do names.append(column.name | lower) -%}
        {%- endfor -%}
        {%- set is_text = format in ('csv', 'json') -%}
        {%- set unknown = dbt_delta._new_fields(landing, format, all, separator, columns) if is_text
            else dbt_delta._columnar_unknown(all, found) -%}
        {#- A name that differs only in case is no column: what has it is rejected. -#}
        {%- for column in unknown if not is_text or column.name | lower not in names -%}
            {%- do all.update({column.name: column.type}) -%}
            {%- do names.append(column.name | lower) -%}
        {%- endfor -%}
        {%- do dbt_delta._check_landed_columns(all, 'landed_files', ['_rescued']) -%}
    {%- elif drift == 'fail' and unknown -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.landed_files: files in ' ~ landing.path ~ ' have columns that the model does not name: '
            ~ unknown | map(attribute='name') | join(', ') ~ '. Nothing was loaded. '
            ~ "Name them, or use drift: 'add' or 'rescue'."
        ) -%}
    {%- endif -%}
    {{- return(all) -}}
{%- endmacro %}

{% macro get_landed_files_sql(
    path, format, columns, files, ledger=none, found=[], drift='fail', large=[], masked=[]
) -%}
{%- set wanted, values, is_table = {}, {}, format in ('parquet', 'orc') -%}
{%- for name, type in columns.items() if format == 'json' -%}
    {%- do wanted.update({name: dbt_delta._json_value('fields[' ~ dbt_delta._literal(name) ~ ']', type)}) -%}
{%- endfor -%}
{%- do wanted.update(dbt_delta._columnar_values(columns, found) if is_table else {}) -%}
{%- for name, field in wanted.items() -%}{%- do values.update({name: field.value}) -%}{%- endfor -%}
{%- if format == 'text' -%}{%- do values.update({'value': 'line'}) -%}{%- endif -%}
{%- if drift == 'rescue' -%}
    {%- do values.update({'_rescued': dbt_delta._json_rescued(wanted) if format == 'json'
        else 'nullif(' ~ dbt_delta._columnar_json(dbt_delta._columnar_unknown(columns, found)) ~ ", '{}')"}) -%}
{%- endif -%}
{%- set is_empty = "when size(filter(lines, line -> trim(line) != '')) = 0 then 'the file is empty'" -%}
with {{ dbt_delta._columnar_files_sql(path, files) if is_table
    else dbt_delta._text_files_sql(path, files, dbt_delta._cut_lines(), large) }},

{{ dbt_delta._judged_files_sql(ledger, [] if is_table else [is_empty]) }},

{% if format == 'json' -%}
{{ dbt_delta._kept_lines_sql(large, "trim(line) != ''") }},

{{ dbt_delta._json_fields_sql() }},

{{ dbt_delta._json_checked_sql(wanted, drift, masked) }}
{%- elif format == 'text' -%}
{{ dbt_delta._kept_lines_sql(large, 'true') }},

{{ dbt_delta._text_checked_sql() }}
{%- else -%}
{{ dbt_delta._columnar_checked_sql(format, path, files, found, wanted, masked) }}
{%- endif %}

{{ dbt_delta._landed_rows_sql(values, ledger) }}
{%- endmacro %}
