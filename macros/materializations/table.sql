{% materialization table, adapter='spark', supported_languages=['sql', 'python'] -%}
    {%- if model.language == 'python' -%}
        {%- call statement('main', language='python') -%}
            {{ dbt_delta.get_python_batch_code() }}
        {%- endcall -%}
    {%- endif -%}
    {{ return(dbt_delta.build_table()) }}
{%- endmaterialization %}

{% macro build_table() -%}
    {%- do dbt_delta._validate_platform() -%}
    {%- set layout = dbt_delta._layout(this) -%}
    {%- if layout.format != dbt_delta._target_format() and layout.location -%}
        {#- A successor would stay in another location for good. -#}
        {{- return(dbt.materialization_table_spark()) -}}
    {%- endif -%}
    {%- do dbt_delta._begin() -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- set judged = dbt_delta._judge(
        dbt_delta._contracted(dbt_delta._model_sql()), layout.expectations, staged=false
    ) -%}
    {%- set sql, layout = judged.sql, dict(layout, tag=dbt_delta._expectations_tag(judged)) -%}
    {%- do dbt_delta._quarantine_build(judged) -%}
    {%- if not dbt_delta._flag('skip_unchanged') or should_full_refresh() -%}
        {%- do dbt_delta._build_table(this, sql, existing, layout) -%}
    {%- else -%}
        {%- do dbt_delta._build_changed_table(this, sql, existing, layout, judged) -%}
    {%- endif -%}
    {%- do dbt_delta._finish_judged(judged) -%}
    {%- do dbt_delta._run_hooks(post_hooks, [true, false]) -%}
    {%- do dbt_delta._drop_python_batch() -%}
    {{- return({'relations': [this.incorporate(type='table')]}) -}}
{%- endmacro %}

{# The same, but only if rows, columns or the configuration differ from the existing table. #}
{% macro _build_changed_table(relation, sql, existing, layout, judged) -%}
    {%- set staging = none -%}
    {%- if existing is not none and judged.staging is none and dbt_delta._is_expensive(sql, model.depends_on.nodes) -%}
        {%- set staging = dbt_delta._beside(relation, 'tmp') -%}
        {%- do dbt_delta._drop_leftovers(relation) -%}
        {%- do dbt_delta._execute(dbt_delta.get_create_staging_sql(
            dbt_delta._named(staging), dbt_delta.get_guarded_sql(sql, dbt_delta._columns_of(sql, stored=true))
        )) -%}
        {%- set sql = 'select * from ' ~ dbt_delta._named(staging) ~ '\n' -%}
    {%- endif -%}
    {%- if existing is not none and dbt_delta._is_unchanged(existing, sql, layout) -%}
        {%- do dbt_delta._write_nothing('unchanged') -%}
    {%- else -%}
        {%- do dbt_delta._build_table(relation, sql, existing, layout) -%}
    {%- endif -%}
    {%- if staging is not none -%}{%- do dbt_delta._drop(staging) -%}{%- endif -%}
{%- endmacro %}

{% macro _is_unchanged(existing, sql, layout) -%}
    {%- if not dbt_delta._is_replaceable(existing, layout) or dbt_delta.get_align_sql(existing, layout) -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set columns = dbt_delta._columns_of(sql) -%}
    {%- set partitions = dbt_delta._name_layout(dict(layout, clustering=[]), columns).partitions -%}
    {%- if columns | length != existing.columns | length
        or existing.partitions | map('lower') | list != partitions | map('lower') | list -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set written, stored = [], [] -%}
    {%- for column in columns -%}
        {%- set found = existing.columns[loop.index0] -%}
        {%- do stored.append({'name': column.name, 'type': dbt_delta._stored_type(column.type)}) -%}
        {%- if (column.name, stored[-1].type) != (found.name, found.type) -%}{{- return(false) -}}{%- endif -%}
        {%- do written.append(dict(stored[-1], source=column.name, source_type=column.type)) -%}
    {%- endfor -%}
    {%- set batch = dbt_delta._batch('(\n' ~ sql ~ ')', columns, written, stored) -%}
    {{- return(dbt_delta._ask(
        dbt_delta.get_first_difference_sql(dbt_delta._table(existing), batch)
    ).rows | length == 0) -}}
{%- endmacro %}
