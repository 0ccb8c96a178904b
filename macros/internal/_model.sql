{#
    The model's SELECT. Where dbt's listing lacked a table that exists, it was rendered as for a
    first build: it is rendered again, now that dbt knows better.
#}
{% macro _model_sql(existing) -%}
    {%- if model.language == 'python' -%}
        {{- return('select * from ' ~ dbt_delta._named(dbt_delta._beside(this, 'tmp')) ~ '\n') -}}
    {%- endif -%}
    {%- if existing is not none and not existing.listed and not should_full_refresh() -%}
        {%- if model.extra_ctes -%}
            {%- do dbt_delta._refuse(
                'The listing of schema ' ~ this.schema ~ ' failed: ' ~ this.identifier ~ ' was not in it, '
                ~ 'and the catalog has it. Nothing was changed. Run the model again.'
            ) -%}
        {%- endif -%}
        {{- return(dbt_delta._inner_sql(render(model.raw_code))) -}}
    {%- endif -%}
    {{- return(dbt_delta._inner_sql(compiled_code)) -}}
{%- endmacro %}

{# Hooks and header that come before the first statement of a model; Python has run them. #}
{% macro _begin() -%}
    {%- if model.language == 'sql' -%}
        {{ run_hooks(pre_hooks) }}
    {%- endif -%}
    {%- for sql in dbt_delta._statements(config.get('sql_header') or '') -%}
        {%- do run_query(sql) -%}
    {%- endfor -%}
{%- endmacro %}

{# The SELECT of a model with an enforced contract: checked, its columns in the contract's order. #}
{% macro _contracted(sql) -%}
    {%- if not config.get('contract', {}).enforced -%}{{- return(sql) -}}{%- endif -%}
    {{ get_assert_columns_equivalent(sql) }}
    {{- return(get_select_subquery(sql)) -}}
{%- endmacro %}

{# Runs what comes before a Python model, which runs at once, and gives its code. #}
{% macro get_python_batch_code() -%}
    {%- do run_hooks(pre_hooks) -%}
    {{- py_write_table(compiled_code=compiled_code, target_relation=dbt_delta._beside(this, 'tmp')) -}}
{%- endmacro %}

{% macro _drop_python_batch() -%}
    {%- if model.language == 'python' -%}
        {%- do dbt_delta._drop(dbt_delta._beside(this, 'tmp')) -%}
    {%- endif -%}
{%- endmacro %}
