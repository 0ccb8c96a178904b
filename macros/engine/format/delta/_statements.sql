{# A relation as it was at a version, for any FROM. #}
{% macro _delta__as_of(relation, version) -%}
    {{- return(dbt_delta._named(relation) ~ ' version as of ' ~ version) -}}
{%- endmacro %}

{# The same at a time. #}
{% macro _delta__as_of_time(relation, time) -%}
    {{- return(dbt_delta._named(relation) ~ ' timestamp as of ' ~ dbt_delta._literal(time)) -}}
{%- endmacro %}

{% macro _delta__change_feed_sql(relation, first, last) -%}
select * except (_commit_timestamp)
from table_changes({{ dbt_delta._literal(dbt_delta._named(relation)) }}, {{ first }}, {{ last }})
{%- endmacro %}

{% macro _delta__optimize_sql(relation, where=none, zorder_by=[], full=false) -%}
optimize {{ dbt_delta._named(relation) }}
{{- ' full' if full }}
{%- if where %}
where {{ where }}
{%- endif %}
{%- if zorder_by %}
zorder by ({{ dbt_delta._quoted_paths(dbt_delta._names(zorder_by)) }})
{%- endif %}
{%- endmacro %}

{% macro _delta__purge_sql(relation, where=none) -%}
reorg table {{ dbt_delta._named(relation) }}
{%- if where %} where {{ where }}{% endif %} apply (purge)
{%- endmacro %}

{% macro _delta__drop_sql(name, type) -%}{{- return('drop ' ~ type ~ ' if exists ' ~ name) -}}{%- endmacro %}

{% macro _delta__tag_setting() -%}
    {{- return('spark.databricks.delta.commitInfo.userMetadata') -}}
{%- endmacro %}

{% macro _delta__names_sql(schema, name) -%}
    {{- return({
        'tableName': 'show tables in ' ~ dbt_delta._quoted(schema) ~ ' like ' ~ dbt_delta._literal(name),
    }) -}}
{%- endmacro %}

{# Delta caches logs by path, and a path now belongs to another table. FROM VALUES keeps this on the driver. #}
{% macro _delta__after_swap_sql() -%}
    {{- return("select java_method('org.apache.spark.sql.delta.DeltaLog', 'clearCache') from values (1)") -}}
{%- endmacro %}

{#
    Parquet, as the rows are read a few times and dropped: of a Delta table each reader would first compute the state.
    The option keeps names and types from Hive, which does not take all of them.
#}
{% macro _delta__staging_clause() -%}
    {{- return("using parquet options ('skipHiveMetadata' = 'true')") -}}
{%- endmacro %}

{% macro _delta__alters_views() -%}{{- return(true) -}}{%- endmacro %}

{% macro _delta__looks_first() -%}{{- return(false) -}}{%- endmacro %}

{#
    As long as a table is small, it is cheaper to write files anew than to mark their rows in deletion vectors: three
    jobs fewer, and no small file and vector more for each run. A model that sets the property
    delta.enableDeletionVectors decides itself.
#}
{% macro _delta__merge_settings(table, layout) -%}
    {%- set limit = 16 * 1024 * 1024 -%}
    {{- return({} if table.bytes is none or table.bytes > limit or 'delta.enableDeletionVectors' in layout.properties
        else {'spark.databricks.delta.merge.deletionVectors.persistent': 'false'}) -}}
{%- endmacro %}

{# The partition columns of a table; they store some texts as NULL. #}
{% macro _delta__text_partitions(partitions) -%}{{- return(partitions) -}}{%- endmacro %}

{% macro _delta__stored_type(type) -%}{{- return('string' if type == 'void' else type) -}}{%- endmacro %}

{# What the model builds, in messages. #}
{% macro _delta__a_table() -%}{{- return('a Delta table') -}}{%- endmacro %}

{# The commits of a table, newest first. #}
{% macro _delta__history_sql(name, limit=none) -%}
    {{- return('describe history ' ~ name ~ (' limit ' ~ limit if limit is not none else '')) -}}
{%- endmacro %}

{# The number by which readers find the version of a commit, if it is another one. #}
{% macro _delta__snapshot_of(row) -%}{{- return(none) -}}{%- endmacro %}

{# Whether the log tells which rows changed. #}
{% macro _delta__has_log() -%}{{- return(true) -}}{%- endmacro %}
