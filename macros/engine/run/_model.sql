{#
    The model's SELECT. `is_stale`: is_incremental() had another value when dbt rendered the model, because dbt's
    listing failed or a hook created or dropped the table. Then the model is rendered again.
#}
{% macro _model_sql(is_stale=false) -%}
    {%- if is_stale and (model.language == 'python' or model.extra_ctes) -%}
        {%- do dbt_delta._drop_python_batch() -%}
        {%- do dbt_delta._refuse(
            'dbt rendered the model with an outdated state of ' ~ dbt_delta._bare(this) ~ ': the listing of the schema '
            ~ 'failed, or a hook created or dropped the table. Nothing was changed. Run the model again.'
        ) -%}
    {%- elif is_stale -%}
        {{- return(dbt_delta._inner_sql(render(model.raw_code))) -}}
    {%- elif model.language == 'python' -%}
        {{- return('select * from ' ~ dbt_delta._named(dbt_delta._beside(this, 'tmp')) ~ '\n') -}}
    {%- endif -%}
    {{- return(dbt_delta._inner_sql(compiled_code)) -}}
{%- endmacro %}

{#
    Runs the hooks and the header that come before a model's first statement; for a Python model they have run. Before
    that refuses a folder in a store that would lose commits.
#}
{% macro _begin() -%}
    {%- do dbt_delta._hide_values(dbt_delta._masked_here()) -%}
    {%- if (config.get('location_root') or '').startswith('s3') and adapter.dbt_delta_check_place is defined -%}
        {%- do adapter.dbt_delta_check_place(config.get('location_root')) -%}
    {%- endif -%}
    {%- if model.language != 'python' -%}
        {%- do dbt_delta._run_hooks(pre_hooks, [false, true]) -%}
    {%- endif -%}
    {%- for sql in dbt_delta._statements(config.get('sql_header') or '') -%}
        {%- do run_query(sql) -%}
    {%- endfor -%}
{%- endmacro %}

{#
    Runs hooks. Those outside of dbt's transaction run first before a model and last after it. Spark has no
    transactions: dbt's own run_hooks would send it a COMMIT.
#}
{% macro _run_hooks(hooks, order) -%}
    {%- for inside in order -%}
        {%- for hook in hooks if hook.get('transaction', true) == inside -%}
            {%- set sql = render(hook.get('sql')) | trim -%}
            {%- if sql -%}
                {#- What a hook writes is not what the model read. SET is not undone. -#}
                {%- set follows = 'dbt_delta_input ' in (compiled_code | default('', true))
                    and dbt_delta._tokens(sql)[:1] not in (['set'], ['reset']) -%}
                {%- call dbt_delta._tagging({'dbt_hook': true} if follows else {}) -%}
                    {%- call statement() -%}{{ sql }}{%- endcall -%}
                {%- endcall -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}

{# Stores the result of a model that writes nothing. #}
{% macro _write_nothing(message) -%}
    {%- do store_raw_result('main', message=message, code='OK', rows_affected='0') -%}
{%- endmacro %}

{# Runs what comes before a Python model, and returns its code, which runs next. #}
{% macro get_python_batch_code() -%}
    {%- do dbt_delta._run_hooks(pre_hooks, [false, true]) -%}
    {{- py_write_table(
        compiled_code=compiled_code ~ dbt_delta._python_without_defaults(), target_relation=dbt_delta._beside(this, 'tmp')
    ) -}}
{%- endmacro %}

{# Python that takes the DEFAULTs of the tables that a model reads from its result; see get_guarded_sql. #}
{% macro _python_without_defaults() %}

def _without_defaults(model):
    def stored(dbt, session):
        df = model(dbt, session)
        if not hasattr(df, "sparkSession"):
            return df
        columns = []
        for field in df.schema.fields:
            column = df["`" + field.name.replace("`", "``") + "`"]
            if "CURRENT_DEFAULT" in field.metadata:
                column = column.cast(field.dataType).alias(field.name)
            columns.append(column)
        return df.select(columns)
    return stored

model = _without_defaults(model)
{% endmacro %}

{% macro _drop_python_batch() -%}
    {%- if model.language == 'python' -%}
        {%- do dbt_delta._drop(dbt_delta._beside(this, 'tmp')) -%}
    {%- endif -%}
{%- endmacro %}
