{% materialization seed, adapter='spark' -%}
    {{ return(dbt_delta.build_seed()) }}
{%- endmaterialization %}

{# A table of the CSV's rows, built like any other in one commit; without a commit if nothing changed. #}
{% macro build_seed() -%}
    {%- do dbt_delta._validate_platform() -%}
    {%- set layout = dbt_delta._layout(this) -%}
    {%- if layout.format != dbt_delta._target_format() and layout.location -%}
        {#- A successor would stay in another location for good; dbt-spark would append to the files. -#}
        {%- do dbt_delta._refuse(
            'A table with file_format ' ~ layout.format ~ ' and location_root cannot be replaced. '
            ~ 'Use delta, or remove location_root.'
        ) -%}
    {%- endif -%}
    {%- set seed = dbt_delta._load_seed() -%}
    {%- set variable = dbt_delta._declare_rows(seed.chunks) -%}
    {%- do dbt_delta._check_cells(seed, variable) -%}
    {%- do dbt_delta._begin() -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- if existing is not none and existing.type == 'view' -%}
        {%- do dbt_delta._refuse(
            "Cannot seed to '" ~ dbt_delta._named(this) ~ "', it is a view. Drop it, or rename the seed."
        ) -%}
    {%- endif -%}
    {%- set judged = dbt_delta._judge(
        dbt_delta._contracted(dbt_delta.get_seed_sql(seed.columns, variable)), layout.expectations
    ) -%}
    {%- set sql, layout = judged.sql, dict(layout, tag=dbt_delta._expectations_tag(judged)) -%}
    {%- do dbt_delta._quarantine_build(judged) -%}
    {%- if existing is none or should_full_refresh() or not dbt_delta._is_unchanged(existing, sql, layout) -%}
        {%- do dbt_delta._build_table(this, sql, existing, layout) -%}
        {%- set code = 'CREATE' if should_full_refresh() else 'INSERT' -%}
        {%- set count = judged.counts.kept if judged.staging is not none else seed.table.rows | length -%}
        {%- do store_raw_result('main', message=code ~ ' ' ~ count, code=code, rows_affected=count) -%}
    {%- else -%}
        {%- do dbt_delta._write_nothing('unchanged') -%}
    {%- endif -%}
    {%- do dbt_delta._finish_judged(judged) -%}
    {%- do dbt_delta._drop_rows(variable) -%}
    {%- do store_result('agate_table', response='OK', agate_table=seed.table) -%}
    {%- do dbt_delta._run_hooks(post_hooks, [true, false]) -%}
    {{- return({'relations': [this.incorporate(type='table')]}) -}}
{%- endmacro %}
