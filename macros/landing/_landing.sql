{#
    What a model reads of a landing folder in this run: {path, ledger, files, large}. `ledger` is the model's own table,
    none in a first build; `files` are those that it does not have, `large` those of them that are too large for one
    value. The plugin asks for the SELECT of a run that finds no
    file; see src/dbt_delta/state/build.py.
#}
{% macro _landing(folder, macro) -%}
    {%- do dbt_delta._check_folder(folder, macro) if execute -%}
    {%- do dbt_delta._check_ledger_strategy(macro) if execute -%}
    {%- set path = dbt_delta.landing_dir(folder) -%}
    {%- set ledger = this if is_incremental() else none -%}
    {%- do dbt_delta._check_one_folder(path, macro) if execute -%}
    {%- set is_listed = execute and dbt_delta_nothing_landed is not defined -%}
    {%- set found = dbt_delta._files_of_folder(path, folder, ledger, macro, is_listed) -%}
    {{- return(dict(found, path=path, ledger=ledger)) -}}
{%- endmacro %}

{# Refuses a folder that Spark would give another path, at which no file would be found. #}
{% macro _check_folder(folder, macro) -%}
    {%- set steps = (folder | string).split('/') -%}
    {%- if folder is not string or not folder.strip('/') or '.' in steps or '..' in steps -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.' ~ macro ~ ": folder is '" ~ folder ~ "'. Nothing was loaded. Name a folder below landing_dir(), "
            ~ 'without . and .., or an address.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Refuses a second folder: the table knows files by name, time and size, and one of another folder may have the same, or
    the same content.
#}
{% macro _check_one_folder(path, macro) -%}
    {%- set known = dbt_delta._memory('landing').setdefault(model.unique_id, path) -%}
    {%- if known != path -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.' ~ macro ~ ': the model reads two folders, ' ~ known ~ ' and ' ~ path ~ ', but its table knows '
            ~ 'files by their names only. Nothing was loaded. Make it two models, and unite them in the next one.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    A batch that was stored, without the files that another run has loaded meanwhile. The SELECT itself reads the table,
    so Delta lets only one of two runs through, and the other looks again; for Iceberg see _landing_settings. A column of
    the table hides an alias of its name.
#}
{% macro _unlanded(table, batch) -%}
    {%- if model.unique_id not in dbt_delta._memory('landing') -%}{{- return(batch) -}}{%- endif -%}
    {%- set same = [] -%}
    {%- for name in dbt_delta._file_keys() -%}
        {%- do same.append('__dbt_landed.' ~ name ~ ' = __dbt_batch.' ~ name) -%}
    {%- endfor -%}
    {{- return(dict(batch, **{'from': '(select * from ' ~ batch.from ~ ' as __dbt_batch where not exists ('
        ~ 'select 1 from ' ~ table.name ~ ' as __dbt_landed where ' ~ same | join(' and ') ~ '))'})) -}}
{%- endmacro %}

{# The columns by which a table knows files. #}
{% macro _file_keys() -%}
    {{- return([dbt_delta.landed_file_column(), '_file_modified_at', '_file_size']) -}}
{%- endmacro %}

{# The settings of a write: of two runs at once only one loads a file. #}
{% macro _landing_settings(settings) -%}
    {%- if model.unique_id not in dbt_delta._memory('landing') -%}{{- return(settings) -}}{%- endif -%}
    {{- return(dbt_delta._in_format('once_settings')(settings, dbt_delta._file_keys())) -}}
{%- endmacro %}

{# Refuses what replaces rows: the table would forget which files it has. #}
{% macro _check_ledger_strategy(macro) -%}
    {%- set strategy, key = config.get('incremental_strategy'), config.get('unique_key') -%}
    {%- if config.get('materialized') == 'incremental' and (key or strategy not in (none, 'append', 'merge')) -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.' ~ macro ~ ': the model has ' ~ ('a unique_key' if key else 'incremental_strategy ' ~ strategy)
            ~ ', which replaces rows, and with them what the table knows of files. Use incremental_strategy append '
            ~ 'here, and merge in the next model.'
        ) -%}
    {%- endif -%}
    {%- for name in dbt_delta._diverting(dbt_delta._expectations(model))
        if config.get('materialized') == 'incremental' -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.' ~ macro ~ ': expectation ' ~ name ~ ' of the model leaves rows out. A file of which all rows are left '
            ~ 'out would be loaded again by each run. Set it in the next model, or use action fail.'
        ) -%}
    {%- endfor -%}
{%- endmacro %}

{# Refuses names of columns that the macros add, and a name that is given twice. #}
{% macro _check_landed_columns(columns, macro, further=[]) -%}
    {%- set own, seen = dbt_delta._ledger_columns() + further, [] -%}
    {%- for name in columns -%}
        {%- if name | lower in own -%}
            {%- do dbt_delta._refuse(
                "dbt_delta." ~ macro ~ ": columns has the name '" ~ name ~ "', which the macro gives to a column that "
                ~ "it adds (" ~ own | join(', ') ~ "). Rename it in the source"
            ) -%}
        {%- elif name | lower in seen -%}
            {%- do dbt_delta._refuse(
                "dbt_delta." ~ macro ~ ": columns has the name '" ~ name ~ "' twice; a table does not "
                ~ "distinguish upper and lower case. Rename one of them in the source"
            ) -%}
        {%- endif -%}
        {%- do seen.append(name | lower) -%}
    {%- endfor -%}
{%- endmacro %}

{# Refuses a column that the table does not have, where on_schema_change would leave its values out. #}
{% macro _check_ledger(landing, columns) -%}
    {%- if landing.ledger is none or not landing.files or config.get('on_schema_change', 'ignore') != 'ignore' -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set known = dbt_delta._columns_of('select * from ' ~ landing.ledger) -%}
    {%- for name in columns if dbt_delta._column(known, name) is none -%}
        {%- do dbt_delta._refuse(
            'The table ' ~ landing.ledger ~ ' has no column ' ~ name ~ ', which would be lost. Nothing was loaded. Set '
            ~ 'on_schema_change: append_new_columns, or rebuild with --full-refresh.'
        ) -%}
    {%- endfor -%}
{%- endmacro %}

{# The columns of Parquet and ORC files that are loaded. #}
{% macro _loaded_columns(landing, format) -%}
    {%- set columns = dbt_delta._columns_of_files(landing.path, format, landing.files, 'landed_files') -%}
    {%- if dbt_delta._column(columns, '_metadata') is not none -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.landed_files: files in ' ~ landing.path ~ " have a column _metadata, which hides Spark's own of "
            ~ 'that name. Nothing was loaded. Rename it in the source.'
        ) -%}
    {%- endif -%}
    {{- return(columns) -}}
{%- endmacro %}

{#
    The fields of JSON lines, or of CSV files with the `required` columns, that have no column yet, in the order of their
    names, as columns of text.
#}
{% macro _new_fields(landing, format, columns, separator, required) -%}
    {%- set fields = [] -%}
    {%- set sql = dbt_delta._new_fields_sql(landing.path, landing.files, landing.large, columns) if format == 'json'
        else dbt_delta._new_csv_names_sql(
            landing.path, landing.files, separator, columns, required.keys() | list, landing.large
        ) -%}
    {%- for row in dbt_delta._ask(sql).rows -%}
        {%- do fields.append({'name': row['name'], 'type': 'string'}) -%}
    {%- endfor -%}
    {{- return(fields) -}}
{%- endmacro %}
