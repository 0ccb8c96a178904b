{#
    A SELECT of the lines of all CSV files in a landing folder that the model has not loaded yet. Use it in an append
    model; the table is its own ledger (see _landing__macros.yml).
#}
{% macro landed_csv(folder, columns, null_value='', separator=',') -%}
    {%- do dbt_delta._check_landed_arguments(columns, separator) -%}
    {%- set landing = dbt_delta._landing(folder, 'landed_csv') -%}
    {%- if landing.ledger is not none and not landing.files -%}
        select * from {{ landing.ledger }} where false
    {%- else -%}
        {{- dbt_delta.get_landed_csv_sql(
            landing.path, columns, landing.files, landing.ledger, null_value, separator,
            dbt_delta._masked_here() if execute else [], large=landing.large
        ) -}}
        {%- do dbt_delta._check_ledger(landing, columns) -%}
    {%- endif -%}
{%- endmacro %}

{#- Refuses what would fail with a raw error or without one: duplicate names, unusable separators. -#}
{% macro _check_landed_arguments(columns, separator) -%}
    {%- if columns is not mapping or not columns -%}
        {%- do dbt_delta._refuse(
            "dbt_delta.landed_csv needs columns as a mapping of name to type, "
            ~ "such as {'id': 'bigint'}. Got: " ~ columns
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._check_landed_columns(columns, 'landed_csv') -%}
    {%- do dbt_delta._check_separator(separator, 'landed_csv') -%}
{%- endmacro %}

{% macro _check_separator(separator, macro) -%}
    {%- if separator is not string or not separator or modules.re.search('[\\\\"\r\n]', separator) -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.' ~ macro ~ ": separator must be text such as ',', ';' or '|', without a backslash, a quotation "
            ~ "mark or the end of a line. Got: " ~ separator ~ ". A tab is written \"\\t\" in Jinja"
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#-
    Without `drift` each file must have the header that the columns make, with it the columns are found by their names in
    the header.
-#}
{% macro get_landed_csv_sql(
    path, columns, files, ledger=none, null_value='', separator=',', masked=[], drift=none, required=[], large=[]
) -%}
{%- set wanted, values = {}, {} -%}
{%- for name, type in columns.items() -%}
    {%- set field = 'fields[' ~ (loop.index0 if drift is none else dbt_delta._literal(name)) ~ ']' -%}
    {%- do wanted.update({name: dbt_delta._csv_value(field, type)}) -%}
    {%- do values.update({name: wanted[name].value}) -%}
{%- endfor -%}
{%- if drift == 'rescue' -%}{%- do values.update({'_rescued': dbt_delta._csv_rescued(columns)}) -%}{%- endif -%}
{%- set reasons = dbt_delta._csv_file_reasons(columns.keys() | list, separator, masked, drift, required) -%}
with {{ dbt_delta._csv_files_sql(path, files, separator, large) }},

{{ dbt_delta._judged_files_sql(ledger, reasons.before, reasons.after) }},

{{ dbt_delta._csv_fields_sql(columns.keys() | list, null_value, separator, drift, large) }},

{{ dbt_delta._csv_checked_sql(wanted, separator, masked) }}

{{ dbt_delta._landed_rows_sql(values, ledger) }}
{%- endmacro %}
