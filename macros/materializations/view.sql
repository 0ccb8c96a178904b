{% materialization view, adapter='spark' -%}
    {{ return(dbt_delta.build_view()) }}
{%- endmaterialization %}

{% macro build_view() -%}
    {%- do dbt_delta._validate_platform() -%}
    {%- do dbt_delta._begin() -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- set judged = dbt_delta._judge_view(dbt_delta._contracted(dbt_delta._model_sql())) -%}
    {%- do dbt_delta._build_view(existing, judged.sql) -%}
    {%- do dbt_delta._finish_judged(judged) -%}
    {%- do dbt_delta._run_hooks(post_hooks, [true, false]) -%}
    {{- return({'relations': [this.incorporate(type='view')]}) -}}
{%- endmacro %}

{#
    A view. If it replaces a table, it is first built under another name, which proves that it works. An existing view
    is altered, so readers always find it: CREATE OR REPLACE VIEW would drop the old one first.
#}
{% macro _build_view(existing, sql) -%}
    {%- set beside = existing is not none and existing.type != 'view' -%}
    {%- if beside -%}{%- do dbt_delta._check_readers(this, existing) -%}{%- endif -%}
    {%- set view = (dbt_delta._beside(this, 'new') if beside else this).incorporate(type='view') -%}
    {%- set promises = dict(dbt_delta._docs(), properties=dbt_delta._view_properties()) -%}
    {%- set is_listed = promises.column_comments or not dbt_delta._in_format('alters_views')() -%}
    {%- set columns = dbt_delta._columns_of(sql) if is_listed else [] -%}
    {%- set promises = dbt_delta._fit_comments(promises, columns | map(attribute='name') | list) -%}
    {%- set is_described = existing is not none and not beside
        and dbt_delta._is_described(existing, promises) -%}
    {%- if is_described and columns and dbt_delta._is_this_view(existing, sql, columns, promises) -%}
        {%- do dbt_delta._write_nothing('nothing new') -%}
    {%- else -%}
        {%- do dbt_delta._main(
            'alter view ' ~ dbt_delta._named(view) ~ ' as\n' ~ sql if is_described and not columns
            else dbt_delta.get_create_view_sql(dbt_delta._named(view), sql, columns, promises)
        ) -%}
    {%- endif -%}
    {%- if beside -%}
        {%- do dbt_delta._swap(existing, view) -%}
    {%- endif -%}
    {%- do dbt_delta._drop_leftovers(this) -%}
{%- endmacro %}

{# Whether a view has exactly the promised comment and properties. #}
{% macro _is_described(existing, promises) -%}
    {%- set properties = {} -%}
    {%- for key, value in promises.properties.items() -%}
        {%- do properties.update({key: dbt_delta._plain(value)}) -%}
    {%- endfor -%}
    {{- return(existing.comment == (promises.comment or '') and existing.properties == properties) -}}
{%- endmacro %}

{# Whether a view is already as it would be created. ALTER VIEW cannot set comments of columns. #}
{% macro _is_this_view(existing, sql, columns, promises) -%}
    {%- if dbt_delta._tokens(sql.replace(existing.text, '', 1)) or columns | length != existing.columns | length -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- for column in columns -%}
        {%- set found = existing.columns[loop.index0] -%}
        {%- set comment = dbt_delta._comment_of(column.name, promises.column_comments) -%}
        {%- if found.name != column.name or found.type != column.type or comment not in (none, found.comment) -%}
            {{- return(false) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}

{# Properties of a view. Delta's own properties do not apply: a view is not a Delta table. #}
{% macro _view_properties() -%}
    {%- set properties = {} -%}
    {%- for key, value in (config.get('tblproperties') or {}).items() if not dbt_delta._is_format_property(key) -%}
        {%- do properties.update({key: value}) -%}
    {%- endfor -%}
    {{- return(properties) -}}
{%- endmacro %}
