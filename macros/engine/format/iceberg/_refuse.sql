{# Refuses what Iceberg does not have, or what is not there yet: docs/iceberg.md has the list. #}
{% macro _iceberg__check_layout() -%}
    {%- for name, instead in {
        'liquid_clustered_by': 'partition_by takes transforms, such as bucket(16, id)',
        'zorder': 'maintenance by Z-order is not there yet',
        'options': 'use tblproperties',
    }.items() if config.get(name) -%}
        {%- do dbt_delta._refuse(
            name ~ ' of ' ~ model.name ~ ' has no counterpart on Iceberg: ' ~ instead ~ '. Nothing was written. Remove it, or '
            ~ 'build the model on a target of Delta.'
        ) -%}
    {%- endfor -%}
    {%- do dbt_delta._iceberg__check_isolation(model.name, config.get('tblproperties') or {}) -%}
    {%- if config.get('location_root') -%}
        {#- Iceberg takes a folder with files of others, and VACUUM of a Delta table there would delete Iceberg's. -#}
        {%- do dbt_delta._refuse(
            'location_root of ' ~ model.name ~ ' is ' ~ config.get('location_root') ~ ', which is not there yet on Iceberg: '
            ~ 'in a folder that a Delta table has, too, maintenance of that table would delete the files of this one. '
            ~ "Nothing was written. Set it for targets of Delta only, as in {{ '/lake' if target.name != '" ~ target.name ~ "' }}."
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Refuses to write with another isolation: two MERGEs of the same new key would both commit, and none would fail to run
    again.
#}
{% macro _iceberg__check_isolation(name, properties) -%}
    {%- set key = 'write.merge.isolation-level' -%}
    {%- if dbt_delta._plain(properties.get(key, 'serializable')) | lower != 'serializable' -%}
        {%- do dbt_delta._refuse(
            key ~ ' of ' ~ name ~ ' is ' ~ properties[key] ~ ': two runs at once could insert the same keys, and lose updates. '
            ~ 'Nothing was written. Remove it from tblproperties, and from the table: alter table .. unset tblproperties '
            ~ "('" ~ key ~ "')."
        ) -%}
    {%- endif -%}
{%- endmacro %}

{% macro _iceberg__buckets_instead() -%}
    {{- return(' asks for buckets of Hive. Use partition_by with bucket(number, column).') -}}
{%- endmacro %}

{# Refuses a model of another format, and a connection without the plugin. #}
{% macro _iceberg__check_target() -%}
    {%- set format = dbt_delta._format() -%}
    {%- if format != 'iceberg' and model.config.get('materialized') not in ('view', 'test') -%}
        {%- do dbt_delta._refuse(
            'file_format of ' ~ model.name ~ ' is ' ~ format ~ ', but target ' ~ target.name ~ ' builds Iceberg tables. Nothing '
            ~ 'was written. Remove file_format, which follows the target, or use a target of Delta.'
        ) -%}
    {%- elif adapter.dbt_delta_select is not defined or not dbt_delta._is_session() -%}
        {%- do dbt_delta._refuse(
            'Target ' ~ target.name ~ ' has an Iceberg catalog, and only the embedded session with the plugin of '
            ~ "dbt_delta's Python package builds on one so far. Nothing was written. Use method: session."
        ) -%}
    {%- elif model.language == 'python' -%}
        {%- do dbt_delta._refuse(
            model.name ~ ' is a Python model, which is not there yet on Iceberg. Nothing was written. Write it in SQL, or '
            ~ 'build it on a target of Delta.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Refuses to overwrite days of UTC by days of another zone: a batch of one of these has a few hours of two of those, and
    would replace both.
#}
{% macro _iceberg__check_strategy(table, settings) -%}
    {%- if settings.strategy != 'insert_overwrite' -%}{{- return(none) -}}{%- endif -%}
    {%- for name in table.partitions -%}
        {%- set one = dbt_delta._iceberg__partition(name, table.columns) -%}
        {%- if one.kind in ('years', 'months', 'days', 'hours')
            and dbt_delta._column(table.columns, one.column).type == 'timestamp' -%}
            {%- if table.zone not in ('UTC', 'Etc/UTC', 'GMT', 'Z', '+00:00') -%}
                {%- do dbt_delta._refuse(
                    table.name ~ ' is partitioned by ' ~ name ~ ', which is in UTC on Iceberg, and the time zone of this '
                    ~ 'session is ' ~ table.zone ~ ': insert_overwrite could replace hours that the batch does not have. '
                    ~ 'Nothing was written. Use a column of dates, strategy replace_where or microbatch, or set '
                    ~ 'spark.sql.session.timeZone to UTC.'
                ) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# Refuses an operation that reads Delta's log, or runs Delta's statements. #}
{% macro _iceberg__check_operation(name) -%}
    {%- if name in ('history', 'diff') -%}{{- return(none) -}}{%- endif -%}
    {%- do dbt_delta._refuse(
        name ~ ' is not there yet on Iceberg, which target ' ~ target.name ~ ' builds. Nothing was changed. docs/iceberg.md '
        ~ 'says what is, and what to do meanwhile.'
    ) -%}
{%- endmacro %}

{% macro _iceberg__change_feed_sql(relation, first, last) -%}
    {%- do dbt_delta._iceberg__check_operation('a change feed') -%}
{%- endmacro %}

{% macro _iceberg__optimize_sql(relation, where=none, zorder_by=[], full=false) -%}
    {%- do dbt_delta._iceberg__check_operation('optimize') -%}
{%- endmacro %}

{% macro _iceberg__purge_sql(relation, where=none) -%}
    {%- do dbt_delta._iceberg__check_operation('purge_deletion_vectors') -%}
{%- endmacro %}

{% macro _iceberg__columns_with_statistics(state) -%}
    {%- do dbt_delta._iceberg__check_operation('layout_advice') -%}
{%- endmacro %}

{% macro _iceberg__statistics_properties(names) -%}
    {%- do dbt_delta._iceberg__check_operation('layout_advice') -%}
{%- endmacro %}
