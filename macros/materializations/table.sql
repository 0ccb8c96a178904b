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
    {%- if config.get('file_format', 'delta') != 'delta' -%}
        {{- return(dbt.materialization_table_spark()) -}}
    {%- endif -%}
    {%- set layout = dbt_delta._layout(this) -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- do dbt_delta._begin() -%}
    {%- set sql = dbt_delta._contracted(dbt_delta._model_sql(none)) -%}
    {%- do dbt_delta._build_table(this, sql, existing, layout) -%}
    {%- do dbt_delta._finish_build(this, layout) -%}
    {%- do dbt_delta._run_hooks(post_hooks, [true, false]) -%}
    {%- do dbt_delta._drop_python_batch() -%}
    {{- return({'relations': [this.incorporate(type='table')]}) -}}
{%- endmacro %}
