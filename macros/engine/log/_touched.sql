{# The files that the commits of a table between two versions added and removed, for FROM. #}
{% macro _commit_files_sql(location, first, last) -%}
(
            select
                from_json(value, 'add struct<path string>, remove struct<path string>') as entry,
                {{ dbt_delta._file_version('_metadata.file_path') }} as version
            from text.{{ dbt_delta._quoted(dbt_delta._plain_glob(location) ~ '/_delta_log/*.json') }}
            where _metadata.file_name rlike '^[0-9]{20}[.]json$'
        ) as entries
        where version between {{ first }} and {{ last }}
{%- endmacro %}

{# Their names. #}
{% macro _touched_files_sql(commits) -%}
select substring_index(coalesce(entry.add.path, entry.remove.path), '/', -1) from {{ commits }}
    and coalesce(entry.add.path, entry.remove.path) is not null
{%- endmacro %}
