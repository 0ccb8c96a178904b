{% materialization view, adapter='spark' -%}
    {{ return(dbt_delta.build_view()) }}
{%- endmaterialization %}

{% macro build_view() -%}
    {%- do dbt_delta._validate_platform() -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- do dbt_delta._begin() -%}
    {%- do dbt_delta._build_view(existing, dbt_delta._contracted(dbt_delta._model_sql(none))) -%}
    {%- do dbt_delta._run_hooks(post_hooks, [true, false]) -%}
    {{- return({'relations': [this.incorporate(type='view')]}) -}}
{%- endmacro %}

{# A view; in the place of a table it is first built, and so proven, under another name. #}
{% macro _build_view(existing, sql) -%}
    {%- set beside = existing is not none and existing.type != 'view' -%}
    {%- set view = (dbt_delta._beside(this, 'new') if beside else this).incorporate(type='view') -%}
    {%- set promises = dict(dbt_delta._docs(), properties=dbt_delta._view_properties()) -%}
    {%- set columns = dbt_delta._columns_of(sql) if promises.column_comments else [] -%}
    {%- do dbt_delta._fit_comments(promises, columns | map(attribute='name') | list) -%}
    {%- call statement('main') -%}
        {{ dbt_delta.get_create_view_sql(dbt_delta._named(view), sql, columns, promises) }}
    {%- endcall -%}
    {%- if beside -%}
        {%- do dbt_delta._swap(existing, view) -%}
    {%- endif -%}
    {%- do dbt_delta._drop_leftovers(this) -%}
{%- endmacro %}

{# Properties of a view, which is no Delta table: those that are Delta's own say nothing of it. #}
{% macro _view_properties() -%}
    {%- set properties = {} -%}
    {%- for key, value in (config.get('tblproperties') or {}).items() if not key.lower().startswith('delta.') -%}
        {%- do properties.update({key: value}) -%}
    {%- endfor -%}
    {{- return(properties) -}}
{%- endmacro %}
