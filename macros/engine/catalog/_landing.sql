{# How the path of a folder ends: all of it, or only the folder where it has steps that Spark would resolve. #}
{% macro _end_of_path(path, folder) -%}
    {%- set plain = [] -%}
    {%- for text in (path, folder) -%}
        {%- do plain.append(
            modules.re.sub('/+', '/', modules.re.sub('^[A-Za-z][A-Za-z0-9+.-]*:', '', text)).strip('/')
        ) -%}
    {%- endfor -%}
    {{- return('/' ~ (plain[1] if './' in plain[0] or '%' in plain[0] else plain[0])) -}}
{%- endmacro %}

{#-
    The files in a folder that are not in the ledger, {path, bytes}. Reads names, not contents. Spark would treat
    folders such as day=1 below as partitions and leave out the files beside them, so it is told to list all.
-#}
{% macro _unseen_files(path, folder, ledger, macro) -%}
    {%- do dbt_delta._check_names_of_files(path, macro) -%}
    {%- set listing -%}
        select
            _metadata.file_path as path,
            {{ dbt_delta._file_columns() }}
        from binaryFile.{{ dbt_delta._quoted(dbt_delta._plain_glob(path)) }} with ('recursiveFileLookup' = 'true')
        where endswith(
            left(path, length(path) - length(substring_index(path, '/', -1)) - 1),
            {{ dbt_delta._literal(dbt_delta._end_of_path(path, folder)) }}
        )
    {%- endset -%}
    {%- set unseen -%}
        select path, _file_size as bytes from ({{ listing }}) as found
        {%- if ledger is not none %}
        left anti join {{ ledger }} as seen
            on found._file = seen.{{ dbt_delta._in_format('file_column')() }}
            and found._file_modified_at = seen._file_modified_at
            and found._file_size = seen._file_size
        {%- endif %}
        order by path
    {%- endset -%}
    {%- set rows = run_query(
        "begin declare exit handler for PATH_NOT_FOUND select cast(null as string) as path, 0 as bytes; "
        ~ unseen ~ "; end"
    ).rows -%}
    {%- if rows | length == 1 and rows[0]['path'] is none -%}
        {%- do dbt_delta._refuse(
            "dbt_delta." ~ macro ~ " found no landing folder " ~ path
            ~ ". Land the data first: ./run build, or python -m dbt_delta.ingest"
        ) -%}
    {%- endif -%}
    {%- set files = [] -%}
    {%- for row in rows -%}{%- do files.append({'path': row['path'], 'bytes': row['bytes'] | int}) -%}{%- endfor -%}
    {{- return(files) -}}
{%- endmacro %}

{# Refuses a folder with files that Spark would leave out; see unreadable_names in src/dbt_delta/session/folders.py. #}
{% macro _check_names_of_files(path, macro) -%}
    {%- set names = adapter.dbt_delta_unreadable_names(path)
        if adapter.dbt_delta_unreadable_names is defined else [] -%}
    {%- if names -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.' ~ macro ~ ': Spark cannot read the names of ' ~ names | length ~ ' files in ' ~ path
            ~ ', which are no text by the locale that it runs with, and would leave the files out. The first one is '
            ~ names[0] ~ '. Nothing was loaded. Rename them.'
        ) -%}
    {%- endif -%}
{%- endmacro %}
