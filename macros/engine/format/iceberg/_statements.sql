{# A version is the id of a snapshot, or the name of a branch or tag. #}
{% macro _iceberg__as_of(relation, version) -%}
    {{- return(dbt_delta._named(relation) ~ ' version as of ' ~ version) -}}
{%- endmacro %}

{% macro _iceberg__as_of_time(relation, time) -%}
    {{- return(dbt_delta._named(relation) ~ ' timestamp as of ' ~ dbt_delta._literal(time)) -}}
{%- endmacro %}

{# DROP alone would leave the files. #}
{% macro _iceberg__drop_sql(name, type) -%}
    {{- return('drop ' ~ type ~ ' if exists ' ~ name ~ (' purge' if type == 'table' else '')) -}}
{%- endmacro %}

{# The setting that tags commits with a text; see src/dbt_delta/session/tags.py. #}
{% macro _iceberg__tag_setting() -%}{{- return('spark.sql.iceberg.snapshot-property.dbt') -}}{%- endmacro %}

{# Catalogs list views apart. #}
{% macro _iceberg__names_sql(schema, name) -%}
    {%- set rest = ' in ' ~ dbt_delta._quoted(schema) ~ ' like ' ~ dbt_delta._literal(name) -%}
    {{- return({'tableName': 'show tables' ~ rest, 'viewName': 'show views' ~ rest}) -}}
{%- endmacro %}

{# The last statement of a swap. #}
{% macro _iceberg__after_swap_sql() -%}{{- return('select 1') -}}{%- endmacro %}

{# A batch that is stored for a moment. #}
{% macro _iceberg__staging_clause() -%}{{- return('using iceberg') -}}{%- endmacro %}

{# Whether ALTER VIEW takes another SELECT. #}
{% macro _iceberg__alters_views() -%}{{- return(false) -}}{%- endmacro %}

{# Whether what has to be written is looked for first, as a statement that changes nothing commits, too. #}
{% macro _iceberg__looks_first() -%}{{- return(true) -}}{%- endmacro %}

{# The settings with which a MERGE runs. #}
{% macro _iceberg__merge_settings(table, layout) -%}{{- return({}) -}}{%- endmacro %}

{# The columns of partitions that cannot hold every text: none. #}
{% macro _iceberg__text_partitions(partitions) -%}{{- return([]) -}}{%- endmacro %}

{# Iceberg has no integers of less than 32 bits, and no texts of a length. #}
{% macro _iceberg__stored_type(type) -%}
    {{- return(
        'int' if type in ('tinyint', 'smallint')
        else 'string' if type == 'void' or modules.re.match('(var)?char\\(', type) else type
    ) -}}
{%- endmacro %}

{# What the model builds, in messages. #}
{% macro _iceberg__a_table() -%}{{- return('an Iceberg table') -}}{%- endmacro %}

{#
    The commits of a table, newest first, in the words of DESCRIBE HISTORY. Their ids are in no order, so versions are
    numbered as they became current. A MERGE counts its rows. The rows in the files of another commit are those that it
    changed only if no file was written anew for one of its rows.
#}
{% macro _iceberg__history_sql(name, limit=none) -%}
{%- set merge = 'spark.merge-into.num-target-rows-' -%}
select
    version,
    made_current_at as timestamp,
    case operation when 'replace' then 'OPTIMIZE' else upper(operation) end as operation,
    '{}' as operationParameters,
    to_json(map_from_entries(transform(
        map_entries(summary), entry -> struct(case entry.key
            when '{{ merge }}inserted' then 'numTargetRowsInserted'
            when '{{ merge }}updated' then 'numTargetRowsUpdated'
            when '{{ merge }}deleted' then 'numTargetRowsDeleted'
            when if(counts_rows, 'added-records', 'none') then 'numTargetRowsInserted'
            when if(counts_rows, 'deleted-records', 'none') then 'numTargetRowsDeleted'
            when 'added-data-files' then 'numFiles'
            when 'added-files-size' then 'numOutputBytes'
            else entry.key
        end, entry.value)
    ))) as operationMetrics,
    summary['dbt'] as userMetadata,
    snapshot_id
from (
    select
        history.made_current_at,
        history.snapshot_id,
        snapshots.operation,
        snapshots.summary,
        not exists(map_keys(snapshots.summary), key -> startswith(key, '{{ merge }}'))
            and (
                snapshots.operation in ('append', 'delete')
                or snapshots.summary['replace-partitions'] = 'true'
                or snapshots.summary['dbt-is-new'] = 'true'
            ) as counts_rows,
        row_number() over (order by history.made_current_at) - 1 as version
    from {{ name }}.history as history
    left join {{ name }}.snapshots as snapshots
        on history.snapshot_id = snapshots.snapshot_id
)
order by version desc
{%- if limit is not none %}
limit {{ limit }}
{%- endif %}
{%- endmacro %}

{% macro _iceberg__snapshot_of(row) -%}{{- return(row['snapshot_id'] | int) -}}{%- endmacro %}

{% macro _iceberg__has_log() -%}{{- return(false) -}}{%- endmacro %}
