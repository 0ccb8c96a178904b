{% materialization unit, adapter='spark' -%}
    {{ return(dbt_delta.build_unit_test()) }}
{%- endmaterialization %}

{#
    dbt's own, which compares rows of a SELECT. With expect_table in the test's meta this is the SELECT of a table that
    the tested node's materialization has written, on the given rows; without the plugin it is always the model's.
#}
{% macro build_unit_test() -%}
    {%- if adapter.dbt_delta_unit_test is not defined -%}{{- return(dbt.materialization_unit_default()) -}}{%- endif -%}
    {{- return(adapter.dbt_delta_unit_test(model.unique_id, compiled_code, dbt.materialization_unit_default)) -}}
{%- endmacro %}

{# The table before the run, with the columns of a SELECT. #}
{% macro _build_given(sql) -%}
    {#- The run itself adds what the table does not have. -#}
    {%- set layout = dict(dbt_delta._layout(this), checks={}, column_comments={}) -%}
    {%- do dbt_delta._build_table(this, dbt_delta._inner_sql(sql), none, layout) -%}
{%- endmacro %}

{# The rows before the run, in a table that its materialization has built without rows. #}
{% macro _insert_given(rows) -%}
    {%- if rows -%}
        {%- set meta = none -%}
        {%- if model.resource_type == 'snapshot' -%}
            {%- set meta = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
        {%- endif -%}
        {%- do dbt_delta._execute(dbt_delta._given_rows_sql(this, rows, dbt_delta._existing(this).columns, meta)) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Drops a unit test's table and what its run staged, and what a killed run of the same test left: their names begin
    with `prefix`, and the listing had them before this run.
#}
{% macro _drop_unit(relation, prefix) -%}
    {%- set left = dbt_delta._folders(relation).keys() | list -%}
    {%- for old in dbt_delta._leftovers(relation) -%}
        {%- do left.append(old.identifier | lower) -%}
    {%- endfor -%}
    {%- for row in dbt_delta._ask(
        'show tables in ' ~ dbt_delta._quoted(relation.schema) ~ ' like ' ~ dbt_delta._literal(prefix ~ '*')
    ).rows if row['tableName'].startswith(relation.identifier) or row['tableName'] | lower in left -%}
        {%- if row['isTemporary'] -%}
            {%- do dbt_delta._execute('drop view if exists ' ~ dbt_delta._quoted(row['tableName'])) -%}
        {%- else -%}
            {%- do dbt_delta._drop(api.Relation.create(schema=relation.schema, identifier=row['tableName'])) -%}
        {%- endif -%}
    {%- endfor -%}
    {#- A CREATE that was killed or failed leaves files that are in no catalog. -#}
    {%- for name, path in adapter.dbt_delta_folders(relation.schema, []).items()
        if name.startswith(relation.identifier) or (name.startswith(prefix) and name in left) -%}
        {%- do adapter.dbt_delta_drop_folder(path) -%}
    {%- endfor -%}
{%- endmacro %}
