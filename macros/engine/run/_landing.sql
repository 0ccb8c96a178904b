{# Files of landing folders, for the models that land them and for erasure. #}

{#
    The paths of files that `ledger` does not have, all of them without one: {files, large}. `large` are too large for
    one value. None of a folder that is not listed.
#}
{% macro _files_of_folder(path, folder, ledger, macro, is_listed) -%}
    {%- set files, large, limit = [], [], dbt_delta._whole_file_bytes() -%}
    {%- set name = folder.rpartition('://')[2].strip('/') -%}
    {%- for file in (dbt_delta._unseen_files(path, name, ledger, macro) if is_listed else []) -%}
        {%- do files.append(file.path) -%}
        {%- do large.append(file.path) if file.bytes > limit -%}
    {%- endfor -%}
    {{- return({'files': files, 'large': large}) -}}
{%- endmacro %}

{# The columns of Parquet and ORC files, {name, type}; none for other formats. A refusal has `end`. #}
{% macro _columns_of_files(path, format, files, macro, end='Nothing was loaded. ') -%}
    {%- if format not in ('parquet', 'orc') or not files -%}{{- return([]) -}}{%- endif -%}
    {%- set sql = 'select * from ' ~ dbt_delta._columnar_from(format, path) -%}
    {%- set found = dbt_delta._attempt('describe query ' ~ sql) -%}
    {%- if found.problem -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.' ~ macro ~ ': the ' ~ format ~ ' files in ' ~ path ~ ' cannot be read as one table. ' ~ end
            ~ found.problem
        ) -%}
    {%- endif -%}
    {{- return(dbt_delta._columns_of(sql)) -}}
{%- endmacro %}
