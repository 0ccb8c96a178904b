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
    {%- if dbt_delta._format() != dbt_delta._target_format() -%}
        {%- do dbt_delta._expectations(model) -%}
        {{- return(dbt.materialization_incremental_spark()) -}}
    {%- endif -%}
    {%- set layout = dbt_delta._layout(this) -%}
    {%- set was_incremental = is_incremental() -%}
    {%- do dbt_delta._begin() -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- set is_kept = existing is not none and existing.type != 'view' and not should_full_refresh() -%}
    {%- set begins_anew = is_kept and dbt_delta._begins_anew(existing, settings) -%}
    {%- set sql = dbt_delta._first_sql(existing) if begins_anew
        else dbt_delta._model_sql(is_stale=was_incremental != is_incremental()) -%}
    {%- set settings = dbt_delta._reading(settings, sql) -%}
    {%- if settings.rebuilds -%}
        {%- set sql = dbt_delta._rebuilding_sql(sql, settings) -%}
        {%- set settings = dict(dbt_delta._reading(settings, sql), rebuilds=true) -%}
    {%- endif -%}
    {%- if is_kept and not begins_anew and not settings.rebuilds -%}
        {%- do dbt_delta._leave_stream(existing) -%}
        {%- do dbt_delta._increment(existing, sql, settings, layout) -%}
        {%- do dbt_delta._complete(existing, settings) -%}
    {%- else -%}
        {%- if settings.strategy == 'microbatch' -%}{%- do dbt_delta._check_first_batch() -%}{%- endif -%}
        {%- set lacking = dbt_delta._incomplete_properties(settings) -%}
        {%- do dbt_delta._build(
            existing, sql, settings, dict(layout, properties=dict(layout.properties, **lacking))
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._run_hooks(post_hooks, [true, false]) -%}
    {%- do dbt_delta._drop_python_batch() -%}
    {{- return({'relations': [this.incorporate(type='table')]}) -}}
{%- endmacro %}

{# The first build, a full refresh, or a table that replaces a view. #}
{% macro _build(existing, sql, settings, layout) -%}
    {%- set is_checked = settings.duplicate_keys == 'error' or settings.null_keys == 'error'
        or (settings.delete_condition and settings.duplicate_keys is none) -%}
    {%- set judged = dbt_delta._judge(
        sql, layout.expectations, staged=is_checked or settings.stage == 'table', batch=dbt_delta._stream_batch(settings)
    ) -%}
    {%- set sql = dbt_delta._latest_rows(judged.sql, settings) -%}
    {%- set layout = dict(
        layout, defaults=dbt_delta._default_properties(settings, layout),
        tag=dict(dbt_delta._expectations_tag(judged), **settings.tag)
    ) -%}
    {%- set built = dbt_delta._built_sql(sql, settings) -%}
    {%- set staging = none -%}
    {%- if is_checked -%}
        {%- set name = '(\n' ~ sql ~ ')' -%}
        {%- if not dbt_delta._is_fixed_by(judged, settings) -%}
            {%- set staging = dbt_delta._beside(this, 'tmp') -%}
            {%- set name = dbt_delta._named(staging) -%}
            {%- do dbt_delta._execute(dbt_delta.get_create_staging_sql(name, dbt_delta._typed(sql))) -%}
        {%- endif -%}
        {%- set found = dbt_delta._ask(dbt_delta.get_batch_check_sql(name, settings, [])).rows[0] -%}
        {%- do dbt_delta._check_keys(
            {'name': dbt_delta._named(this)}, dbt_delta._batch(name, staging=staging), settings, found, is_build=true
        ) -%}
        {%- set built = dbt_delta._built_sql('select * from ' ~ name ~ ' as batch', settings) -%}
    {%- endif -%}
    {%- do dbt_delta._quarantine_build(judged, settings.control_columns) -%}
    {%- do dbt_delta._build_table(this, built, existing, layout) -%}
    {%- if staging is not none -%}{%- do dbt_delta._drop(staging) -%}{%- endif -%}
    {%- do dbt_delta._finish_judged(judged) -%}
{%- endmacro %}

{# Whether the batch is a table as it is: that of a Python model, or the rows that were judged. #}
{% macro _is_fixed_by(judged, settings) -%}
    {{- return(
        model.language == 'python' or (judged.staging is not none and settings.duplicate_keys != 'latest')
    ) -}}
{%- endmacro %}

{# The SELECT with the newest row of each key, if the model asks for it. #}
{% macro _latest_rows(sql, settings) -%}
    {{- return(
        dbt_delta.get_latest_sql(sql, settings.unique_key, settings.duplicate_keys_order_by)
        if settings.duplicate_keys == 'latest' else sql
    ) -}}
{%- endmacro %}

{# The rows and columns of the model's SELECT that a first build writes. #}
{% macro _built_sql(sql, settings) -%}
    {%- if settings.delete_condition or settings.control_columns -%}
        {%- do dbt_delta._without_control_columns(dbt_delta._columns_of(sql), settings) -%}
        {%- set sql = dbt_delta.get_inserted_sql(sql, settings) -%}
    {%- endif -%}
    {{- return(dbt_delta._typed(dbt_delta._contracted(sql))) -}}
{%- endmacro %}

{# Updates an existing table: checks, changes the schema, writes once. #}
{% macro _increment(existing, sql, settings, layout) -%}
    {%- do dbt_delta._validate_target(dbt_delta._table(existing), settings, layout) -%}
    {%- set promised = layout if dbt_delta._flag('incremental_apply_config_changes', true) else none -%}
    {%- set table = dbt_delta._table(existing, promised) -%}
    {%- set table = dict(table, checks=dbt_delta._in_format('own_checks')(existing, promised)) -%}
    {%- do dbt_delta._in_format('check_checks')(table, settings) -%}
    {%- if flags.EMPTY -%}
        {{- return(dbt_delta._increment_schema(existing, table, sql, settings, promised, layout.expectations)) -}}
    {%- endif -%}
    {%- if dbt_delta._sample() -%}{%- do dbt_delta._check_added_sample(table, settings) -%}{%- endif -%}
    {%- set settings = dict(dbt_delta._from_watermark(settings), meant=dbt_delta._meant_rows(table, settings)) -%}
    {%- set is_altered = dbt_delta.get_align_sql(existing, promised) | length > 0 -%}
    {%- set judged = dbt_delta._judge(sql, layout.expectations, staged=layout.expectations and (
        is_altered or dbt_delta._stores_judged(table, sql, settings, promised)
    ), batch=dbt_delta._stream_batch(settings)) -%}
    {%- set sql = dbt_delta._latest_rows(judged.sql, settings) -%}
    {%- set settings = dict(
        settings, is_fixed=dbt_delta._is_fixed_by(judged, settings),
        stage='view' if judged.expectations and judged.staging is none else settings.stage,
    ) -%}
    {%- set bounded = dbt_delta._bounded_keys(table, settings) -%}
    {%- set batch = dbt_delta._stage(table, sql, settings, promised, bounded, is_altered) -%}
    {%- if batch.staging is not none or judged.staging is not none -%}
        {%- set batch = dbt_delta._unlanded(table, batch) -%}
    {%- endif -%}
    {%- if settings.strategy in dbt_delta._strategies() and batch.rows != 0 -%}
        {%- do dbt_delta._check_values(
            table.name, batch, settings.unique_key if dbt_delta._checks_batch(settings) else []
        ) -%}
    {%- endif -%}
    {%- if promised is not none and table.clustering -%}
        {%- do dbt_delta._name_layout({'partitions': [], 'clustering': table.clustering}, batch.target_columns) -%}
    {%- endif -%}
    {%- if batch.changes or is_altered -%}
        {#- A run that fails leaves the table unchanged: what can fail comes first, what destroys comes last. -#}
        {%- do dbt_delta._check_constraints(existing, batch, settings, promised) -%}
    {%- endif -%}
    {#- A user's own strategy may write columns by position. -#}
    {%- set last = ['drop'] if settings.strategy in dbt_delta._strategies() else [] -%}
    {%- do dbt_delta._align(existing, promised, batch.changes | rejectattr('kind', 'in', last) | list) -%}
    {%- set settings = dbt_delta._still_meaning(table, settings) -%}
    {%- set took = dbt_delta._quarantine_batch(judged, table, batch, settings) -%}
    {%- if dbt_delta._is_nothing(table, batch, settings) -%}
        {%- do dbt_delta._write_nothing('nothing new') -%}
    {%- else -%}
        {%- do dbt_delta._write_batch(
            table, batch, dbt_delta._landing_settings(settings), layout,
            dict(dbt_delta._expectations_tag(judged), **settings.tag)
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._keep_watermark(settings) -%}
    {%- set dropped = batch.changes | selectattr('kind', 'in', last) | list -%}
    {%- for statement in dbt_delta.get_alter_columns_sql(existing, dropped).dropped -%}
        {%- do dbt_delta._execute(statement) -%}
    {%- endfor -%}
    {%- if batch.staging is not none -%}{%- do dbt_delta._drop(batch.staging) -%}{%- endif -%}
    {%- do dbt_delta._put_back_quarantined(judged, took) if settings.strategy == 'append' -%}
    {%- do dbt_delta._finish_judged(judged) -%}
{%- endmacro %}

{# The number of a stream's batch; none if it is no stream. #}
{% macro _stream_batch(settings) -%}
    {{- return((settings.tag.get('dbt_stream') or {}).get('batch')) -}}
{%- endmacro %}

{#
    Whether judged rows are stored: where the batch is stored before the quarantine is written, both must come from the
    same rows. A merge reads them several times.
#}
{% macro _stores_judged(table, sql, settings, promised) -%}
    {{- return(
        settings.stage == 'table'
        or (settings.stage == 'auto' and dbt_delta._reads_batch_twice(table, settings))
        or dbt_delta._replaces_by_subquery(settings)
        or dbt_delta._column_plan(dbt_delta._columns_of(sql, stored=true), table, settings, promised, sql).changes
    ) -}}
{%- endmacro %}

{# The one statement that writes. #}
{% macro _write_batch(table, batch, settings, layout, tag) -%}
    {%- set batch = dbt_delta._named_batch(table, batch, settings) -%}
    {%- call dbt_delta._tagging(tag) -%}
        {%- call dbt_delta._rewriting(table, layout, dbt_delta._replaces_all_matches(settings)) -%}
            {%- do dbt_delta._main(dbt_delta.get_write_sql(table, batch, settings)) -%}
        {%- endcall -%}
    {%- endcall -%}
    {%- if batch.staging is none -%}{%- do dbt_delta._drop_temporary_view(batch.from) -%}{%- endif -%}
{%- endmacro %}

{# --empty on an existing table: the table gets the model's new columns, and keeps its rows. #}
{% macro _increment_schema(existing, table, sql, settings, promised, expectations) -%}
    {%- set sql = dbt_delta._latest_rows(dbt_delta._judge(sql, expectations).sql, settings) -%}
    {%- set plan = dbt_delta._column_plan(dbt_delta._columns_of(sql), table, settings, promised, sql) -%}
    {%- do dbt_delta._align(existing, promised, plan.changes | selectattr('kind', 'in', ['add', 'retype']) | list) -%}
    {%- do dbt_delta._write_nothing('--empty: no row was touched') -%}
{%- endmacro %}
