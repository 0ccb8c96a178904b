{#
    Stages the batch and checks it: its columns, the changes that they need in the table, and its keys. Refuses what
    must not be written before anything is written.
#}
{% macro _stage(table, sql, settings, promised, bounded, is_altered) -%}
    {%- set columns = dbt_delta._columns_of(sql, stored=true) -%}
    {%- set sql = dbt_delta.get_guarded_sql(sql, columns) -%}
    {%- set batch = dbt_delta._batch(
        '(\n' ~ sql ~ ')', **dbt_delta._column_plan(columns, table, settings, promised, sql)
    ) -%}
    {%- set checked = dbt_delta._checks_batch(settings) and settings.unique_key | length > 0 -%}
    {#- The SELECT itself may fail, so it is evaluated before the table is altered. -#}
    {%- set staged = dbt_delta._is_staged(table, sql, settings) or (
        (batch.changes or is_altered) and not dbt_delta._is_fixed(settings)
    ) -%}
    {%- do dbt_delta._check_conditions(table, batch, settings) -%}
    {%- do dbt_delta._in_format('check_batch')(table, batch, settings) -%}
    {%- set found, losses = none, dbt_delta._key_losses(table, batch, settings, bounded) -%}
    {%- if checked and not staged -%}
        {%- set found = run_query(dbt_delta.get_batch_check_sql(batch.from, settings, bounded, losses)).rows[0] -%}
        {%- set counted = dict(batch, rows=found['row_count'] | int) -%}
        {%- if dbt_delta._is_settled(counted, settings) -%}{{- return(counted) -}}{%- endif -%}
    {%- endif -%}
    {%- if staged -%}
        {%- set staging = dbt_delta._beside(this, 'tmp') -%}
        {%- do dbt_delta._drop_leftovers(this) -%}
        {%- do run_query(dbt_delta.get_create_staging_sql(
            dbt_delta._named(staging), dbt_delta.get_staged_columns_sql(batch.from, batch.source_columns)
        )) -%}
        {%- set batch = dict(batch, **{'from': dbt_delta._named(staging), 'staging': staging}) -%}
        {%- if checked -%}
            {%- set found = run_query(dbt_delta.get_batch_check_sql(batch.from, settings, bounded, losses)).rows[0] -%}
        {%- endif -%}
    {%- endif -%}
    {%- if checked -%}
        {%- do dbt_delta._check_keys(table, batch, settings, found) -%}
        {%- do dbt_delta._check_losses(table, batch, settings, losses, found) -%}
        {%- set batch = dict(
            batch,
            rows=found['row_count'] | int,
            null_rows=found['null_rows'] | int,
            bounds=dbt_delta._found_bounds(bounded, found, batch.source_columns),
        ) -%}
    {%- endif -%}
    {%- set by_subquery = dbt_delta._replaces_by_subquery(settings) -%}
    {%- if by_subquery -%}
        {%- do dbt_delta._check_defaults(table, batch) -%}
    {%- endif -%}
    {%- if settings.strategy == 'replace_where' and settings.predicates -%}
        {%- set batch = dict(batch, rows=dbt_delta._check_predicate(table, batch, settings.predicates)) -%}
    {%- elif by_subquery -%}
        {#- Without a subquery Delta checks this itself. -#}
        {%- set predicates = dbt_delta._window(table) + settings.predicates -%}
        {%- set batch = dict(batch, rows=dbt_delta._check_predicate(table, batch, predicates)) -%}
    {%- endif -%}
    {{- return(batch) -}}
{%- endmacro %}

{#
    The batch with a name: a batch that was not staged gets a view. A SELECT may read its own table, for example for
    the newest row. A MERGE refuses that in a subquery of its source ("Table does not support reads"), but not in a
    view.
#}
{% macro _named_batch(table, batch, settings) -%}
    {%- if batch.staging is not none -%}{{- return(batch) -}}{%- endif -%}
    {%- set view = dbt_delta._beside(this, 'tmp').identifier ~ '_view' -%}
    {%- set select = dbt_delta.get_unchanged_batch_sql(table, batch, settings) -%}
    {%- do run_query('create or replace temporary view ' ~ dbt_delta._quoted(view) ~ ' as\n' ~ select) -%}
    {{- return(dict(
        batch, **{'from': dbt_delta._quoted(view), 'view': api.Relation.create(identifier=view, type='view')}
    )) -}}
{%- endmacro %}
