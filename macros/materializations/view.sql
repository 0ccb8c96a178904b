{% materialization view, adapter='spark' -%}
    {{ return(dbt_delta.build_view()) }}
{%- endmaterialization %}

{# A view; in the place of a table it is first built, and so proven, under another name. #}
{% macro build_view() -%}
    {%- do dbt_delta._validate_platform() -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- do dbt_delta._begin() -%}
    {%- set beside = existing is not none and existing.type != 'view' -%}
    {%- set view = dbt_delta._beside(this, 'new') if beside else this -%}
    {%- set view = view.incorporate(type='view') -%}
    {%- call statement('main') -%}
        {{ get_create_view_as_sql(view, dbt_delta._inner_sql(compiled_code)) }}
    {%- endcall -%}
    {%- if beside -%}
        {%- do dbt_delta._swap(existing, view) -%}
    {%- endif -%}
    {%- do dbt_delta._run_hooks(post_hooks, [true, false]) -%}
    {{- return({'relations': [this.incorporate(type='view')]}) -}}
{%- endmacro %}
