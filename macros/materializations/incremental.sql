{% materialization incremental, adapter='spark', supported_languages=['sql', 'python'] -%}
    {%- if model.language == 'python' -%}
        {%- call statement('main', language='python') -%}
            {{ dbt_delta.get_python_batch_code() }}
        {%- endcall -%}
    {%- endif -%}
    {{ return(dbt_delta.build_incremental()) }}
{%- endmaterialization %}

{% macro build_incremental() -%}
    {%- set settings = dbt_delta._incremental_settings() -%}
    {%- if config.get('file_format', 'delta') != 'delta' -%}
        {{- return(dbt.materialization_incremental_spark()) -}}
    {%- endif -%}
    {%- set layout = dbt_delta._layout(this) -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- set sql = dbt_delta._model_sql(existing) -%}
    {%- if settings.duplicate_keys == 'latest' -%}
        {%- set sql = dbt_delta.get_latest_sql(
            sql, settings.unique_key, settings.duplicate_keys_order_by
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._begin() -%}
    {%- if existing is none or existing.type == 'view' or existing.provider != 'delta'
        or should_full_refresh() -%}
        {%- do dbt_delta._build(existing, sql, settings, layout) -%}
    {%- else -%}
        {%- do dbt_delta._increment(existing, sql, settings, layout) -%}
    {%- endif -%}
    {%- do dbt_delta._run_hooks(post_hooks, [true, false]) -%}
    {%- do dbt_delta._drop_python_batch() -%}
    {{- return({'relations': [this.incorporate(type='table')]}) -}}
{%- endmacro %}

{# The first build, a full refresh, or what takes the place of a view or of another format. #}
{% macro _build(existing, sql, settings, layout) -%}
    {%- do layout.update({'defaults': dbt_delta._default_properties(settings, layout)}) -%}
    {%- set sql = dbt_delta._contracted(sql) -%}
    {%- set staging = none -%}
    {%- if settings.duplicate_keys == 'error' or settings.null_keys == 'error' -%}
        {%- set staging = dbt_delta._beside(this, 'tmp') -%}
        {%- set name = dbt_delta._named(staging) -%}
        {%- do run_query(dbt_delta.get_create_staging_sql(name, sql)) -%}
        {%- set found = run_query(
            dbt_delta.get_batch_check_sql(name, settings, [], columns=false)
        ).rows[0] -%}
        {%- do dbt_delta._check_keys(
            {'name': dbt_delta._named(this)}, {'from': name, 'staging': staging}, settings, found, is_build=true
        ) -%}
        {%- set sql = 'select * from ' ~ name -%}
    {%- endif -%}
    {%- do dbt_delta._build_table(this, sql, existing, layout) -%}
    {%- if staging is not none -%}{%- do dbt_delta._drop(staging) -%}{%- endif -%}
{%- endmacro %}

{# Brings an existing table up to date: looks, refuses, changes the schema, writes once. #}
{% macro _increment(existing, sql, settings, layout) -%}
    {%- set target = dict(existing, name=dbt_delta._named(existing.relation)) -%}
    {%- do dbt_delta._validate_target(target, settings, layout) -%}
    {%- set promised = layout if dbt_delta._flag('incremental_apply_config_changes', true) else none -%}
    {%- set bounded = dbt_delta._bounded_keys(target, settings) -%}
    {%- set batch = dbt_delta._stage(target, sql, settings, layout, bounded) -%}
    {%- do dbt_delta._check_values(batch) -%}
    {%- do dbt_delta._align(existing, promised, batch.changes) -%}
    {%- if dbt_delta._is_nothing(target, batch, settings) -%}
        {%- do dbt_delta._write_nothing('nothing new') -%}
    {%- else -%}
        {%- do dbt_delta._name_batch(batch) -%}
        {%- call statement('main') -%}
            {{ dbt_delta.get_write_sql(target, batch, settings) }}
        {%- endcall -%}
    {%- endif -%}
    {%- if batch.staging is not none -%}
        {%- do dbt_delta._drop(batch.staging) -%}
    {%- endif -%}
{%- endmacro %}
