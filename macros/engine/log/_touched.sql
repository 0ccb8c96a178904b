{# The files that the commits of a table between two versions added and removed, for FROM. #}
{% macro _commit_files_sql(location, first, last) -%}
(
            select
                from_json(value, 'add struct<path string, dataChange boolean>, remove struct<path string, dataChange boolean>') as entry,
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

{# Of each of these commits, whether it adds files with other rows, and removes such. #}
{% macro _commit_kinds_sql(location, first, last) -%}
select
    version,
    coalesce(bool_or(entry.add.dataChange), false) as adds,
    coalesce(bool_or(entry.remove.dataChange), false) as removes
from {{ dbt_delta._commit_files_sql(location, first, last) }}
group by version
order by version
{%- endmacro %}

{# A text of each of these commits that no other commit has: Delta gives each one an id of its own. #}
{% macro _commit_ids_sql(location, versions) -%}
{%- set files, folder = [], dbt_delta._plain_glob(location) -%}
{%- for version in versions -%}{%- do files.append('%020d' % version) -%}{%- endfor -%}
select
    version,
    coalesce(max(if(startswith(value, '{"commitInfo"'), md5(value), null)), max(md5(value))) as id
from (
    select value, {{ dbt_delta._file_version('_metadata.file_path') }} as version
    from text.{{ dbt_delta._quoted(folder ~ '/_delta_log/{' ~ files | join(',') ~ '}.json') }}
) as lines
group by version
{%- endmacro %}
