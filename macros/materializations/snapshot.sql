{% materialization snapshot, adapter='spark' -%}
    {{ return(dbt_delta.build_snapshot()) }}
{%- endmaterialization %}

{# Updates a history from its source: it reads the source once, and runs one MERGE or nothing. #}
{% macro build_snapshot() -%}
    {%- if dbt_delta._format() != dbt_delta._target_format() -%}
        {%- do dbt_delta._expectations(model) -%}
        {{- return(dbt.materialization_snapshot_spark()) -}}
    {%- endif -%}
    {%- set settings = dbt_delta._snapshot_settings() -%}
    {%- set layout = dbt_delta._layout(this) -%}
    {%- do dbt_delta._in_format('check_snapshot')(layout) -%}
    {%- do dbt_delta._begin() -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- do dbt_delta._in_format('check_isolation')(this.identifier, existing.properties) if existing is not none -%}
    {%- set table = dbt_delta._snapshot_table(existing, settings) -%}
    {%- set judged = dbt_delta._judge(dbt_delta._inner_sql(compiled_code), layout.expectations) -%}
    {%- set batch = dbt_delta._snapshot_batch(table, settings, layout, judged) -%}
    {%- set settings = dbt_delta._settled_current(batch, table, settings) -%}
    {%- set batch = dbt_delta._stage_snapshot(table, batch, settings) -%}
    {%- set tag = dbt_delta._expectations_tag(judged) -%}
    {%- if existing is none -%}
        {%- do dbt_delta._quarantine(judged, batch.columns, dbt_delta._scope('all')) -%}
        {%- do dbt_delta._build_table(
            this, dbt_delta.get_first_snapshot_sql(batch, settings), none,
            dict(layout, defaults=dbt_delta._feature_properties(['deletion_vectors']), tag=tag)
        ) -%}
    {%- else -%}
        {%- set promised = layout if dbt_delta._flag('incremental_apply_config_changes', true) else none -%}
        {%- do dbt_delta._check_values(dbt_delta._named(this), dbt_delta._staged_batch(batch)) -%}
        {%- do dbt_delta._align(existing, promised, batch.changes) -%}
        {%- do dbt_delta._quarantine(judged, batch.columns, dbt_delta._snapshot_scope(batch)) -%}
        {%- call dbt_delta._planning_places(settings) -%}
            {%- do dbt_delta._merge_snapshot(table, batch, settings, layout, tag) -%}
        {%- endcall -%}
    {%- endif -%}
    {%- do dbt_delta._drop(batch.staging) -%}
    {%- do dbt_delta._finish_judged(judged) -%}
    {%- do dbt_delta._run_hooks(post_hooks, [true, false]) -%}
    {{- return({'relations': [this.incorporate(type='table')]}) -}}
{%- endmacro %}

{# The one statement that writes, if there is anything to write. #}
{% macro _merge_snapshot(table, batch, settings, layout, tag) -%}
    {%- if batch.rows == 0 -%}
        {%- do dbt_delta._write_nothing('nothing new') -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set view = dbt_delta._quoted(batch.staging.identifier ~ '_view') -%}
    {%- if settings.scd_type == 1 -%}
        {%- set changes = dbt_delta.get_latest_state_changes_sql(table, batch, settings) -%}
        {%- set sql = dbt_delta.get_latest_state_merge_sql(table, batch, settings) -%}
    {%- else -%}
        {#- The source of a MERGE can read the target only through a view. -#}
        {%- do dbt_delta._execute(
            'create or replace temporary view ' ~ view ~ ' as\n'
            ~ dbt_delta.get_snapshot_operations_sql(table, batch, settings)
        ) -%}
        {%- set changes = 'select 1 from ' ~ view -%}
        {%- set sql = dbt_delta.get_snapshot_merge_sql(table, batch, settings, view) -%}
    {%- endif -%}
    {%- if settings.strategy == 'cdc' and dbt_delta._ask(changes ~ '\nlimit 1').rows | length == 0 -%}
        {#- For a feed only this query knows whether the table has all of it. -#}
        {%- do dbt_delta._write_nothing('nothing new') -%}
    {%- else -%}
        {%- call dbt_delta._tagging(tag) -%}
            {%- call dbt_delta._rewriting(table, layout) -%}
                {%- do dbt_delta._main(sql) -%}
            {%- endcall -%}
        {%- endcall -%}
    {%- endif -%}
    {%- if settings.scd_type != 1 -%}{%- do dbt_delta._drop_temporary_view(view) -%}{%- endif -%}
{%- endmacro %}

{#
    What Spark infers about rows grows with each column of events that are placed among others, many times over: with
    eleven columns planning filled 2 GB and did not end. It is of no use here, as the MERGE has bounds of its own.
#}
{% macro _planning_places(settings) -%}
    {%- if (settings.strategy != 'cdc' and settings.late != 'insert') or adapter.dbt_delta_with is not defined -%}
        {{- return(caller()) -}}
    {%- endif -%}
    {%- do adapter.dbt_delta_with({'spark.sql.constraintPropagation.enabled': 'false'}, caller) -%}
{%- endmacro %}
