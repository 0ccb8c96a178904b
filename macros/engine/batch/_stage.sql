{#
    The batch of an incremental run: what the model's SELECT gives, or a table of it where
    evaluating it more than once would be expensive. {from, staging, source_columns, columns, rows,
    bounds}; `from` is what the batch is read from, the SELECT in parentheses or the table; columns
    are those to write, {name, type, source, source_type}; rows and null_rows (with a NULL in their
    key) are none where they were not counted.
#}

{# Reads the SELECT more than once: the check before the write, and Delta's MERGE twice or thrice. #}
{% macro _reads_batch_twice(target, settings) -%}
    {{- return(
        dbt_delta._checks_batch(settings)
        or settings.strategy in ('merge', 'delete+insert')
        or (settings.strategy == 'insert_overwrite' and target.clustering | length > 0)
    ) -}}
{%- endmacro %}

{% macro _is_staged(target, sql, settings) -%}
    {#- What a Python model gave is a table already. -#}
    {%- if model.language == 'python' -%}{{- return(false) -}}{%- endif -%}
    {%- if settings.stage != 'auto' -%}{{- return(settings.stage == 'table') -}}{%- endif -%}
    {{- return(
        dbt_delta._reads_batch_twice(target, settings) and dbt_delta._is_expensive(sql, model.depends_on.nodes)
    ) -}}
{%- endmacro %}

{#
    Whether a SELECT does more than scan, filter and project: then one evaluation costs more than
    writing its result down. Looks through the views that the model reads. What gives another
    result each time is expensive as well: all steps must see one batch.
#}
{% macro _is_expensive(sql, upstream=[]) -%}
    {%- set work = '\\b(join|group\\s+by|distinct|over|union(?!\\s+all\\b)|intersect|except(?!\\s*\\()|having|lateral'
        ~ '|explode\\w*|posexplode\\w*|inline|stack|rand|random|randn|randstr|uniform|uuid|shuffle|tablesample'
        ~ '|monotonically_increasing_id|current_timestamp|now|localtimestamp|unix_timestamp|reflect|java_method'
        ~ '|regexp\\w*|rlike|from_json|from_csv|sha\\d*|md5)\\b' -%}
    {%- set text = modules.re.sub('(?s)' ~ dbt_delta._opaque_tokens(), ' ', sql) -%}
    {%- if modules.re.search('(?i)' ~ work, text) -%}{{- return(true) -}}{%- endif -%}
    {%- for id in upstream -%}
        {%- set node = graph.nodes.get(id) -%}
        {%- if node and node.config.materialized == 'view'
            and dbt_delta._is_expensive(node.raw_code, node.depends_on.nodes) -%}
            {{- return(true) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{#
    Stages the batch and looks at it: its columns, what they ask of the table, and its keys.
    Refuses what must not be written, before anything is.
#}
{% macro _stage(target, sql, settings, promised, bounded, is_altered) -%}
    {%- set select = '(\n' ~ sql ~ ')' -%}
    {%- set batch = {'from': select, 'staging': none, 'bounds': [], 'rows': none, 'null_rows': none, 'changes': []} -%}
    {%- set checked = dbt_delta._checks_batch(settings) and settings.unique_key | length > 0 -%}
    {%- do dbt_delta._plan_columns(batch, dbt_delta._columns_of(sql), target, settings, promised, sql) -%}
    {#- The SELECT itself may fail: it is evaluated before the table is altered. -#}
    {%- set staged = dbt_delta._is_staged(target, sql, settings) or (
        (batch.changes or is_altered) and model.language != 'python'
    ) -%}
    {%- do dbt_delta._check_conditions(target, batch, settings) -%}
    {%- set found, losses = none, dbt_delta._key_losses(target, batch, settings, bounded) -%}
    {%- if checked and not staged -%}
        {%- set found = run_query(dbt_delta.get_batch_check_sql(select, settings, bounded, losses)).rows[0] -%}
        {%- do batch.update({'rows': found['row_count'] | int}) -%}
        {%- if dbt_delta._is_settled(batch, settings) -%}{{- return(batch) -}}{%- endif -%}
    {%- endif -%}
    {%- if staged -%}
        {%- set staging = dbt_delta._beside(this, 'tmp') -%}
        {%- do batch.update({'from': dbt_delta._named(staging), 'staging': staging}) -%}
        {%- do dbt_delta._drop_leftovers(this) -%}
        {%- do run_query(dbt_delta.get_create_staging_sql(
            batch.from, dbt_delta.get_staged_columns_sql(select, batch.source_columns)
        )) -%}
        {%- if checked -%}
            {%- set found = run_query(dbt_delta.get_batch_check_sql(batch.from, settings, bounded, losses)).rows[0] -%}
        {%- endif -%}
    {%- endif -%}
    {%- if checked -%}
        {%- do dbt_delta._check_keys(target, batch, settings, found) -%}
        {%- do dbt_delta._check_losses(target, batch, settings, losses, found) -%}
        {%- do batch.update({
            'rows': found['row_count'] | int,
            'null_rows': found['null_rows'] | int,
            'bounds': dbt_delta._found_bounds(bounded, found, batch.source_columns),
        }) -%}
    {%- endif -%}
    {%- if settings.strategy == 'replace_where' and settings.predicates -%}
        {%- do dbt_delta._check_predicate(target, batch, settings.predicates) -%}
    {%- elif settings.strategy == 'microbatch' and dbt_delta._has_subquery(settings.predicates) -%}
        {#- Without a subquery Delta looks itself. -#}
        {%- do dbt_delta._check_predicate(target, batch, dbt_delta._window(target) + settings.predicates) -%}
    {%- endif -%}
    {{- return(batch) -}}
{%- endmacro %}

{#
    Gives a batch that was not staged the name of a view. A SELECT may ask its own table, as for the
    newest row; a MERGE refuses that in a subquery of its source ("Table does not support reads"),
    but not behind a view.
#}
{% macro _name_batch(batch) -%}
    {%- if batch.staging is none -%}
        {%- set view = dbt_delta._beside(this, 'tmp').identifier ~ '_view' -%}
        {%- do run_query(
            'create or replace temporary view ' ~ dbt_delta._quoted(view) ~ ' as\nselect * from ' ~ batch.from
        ) -%}
        {%- do batch.update({
            'from': dbt_delta._quoted(view), 'view': api.Relation.create(identifier=view, type='view')
        }) -%}
    {%- endif -%}
{%- endmacro %}

{#- Column mapping lets the names of columns hold blanks and the like. -#}
{% macro get_create_staging_sql(name, sql) -%}
create or replace table {{ name }}
using delta
tblproperties ('delta.columnMapping.mode' = 'name')
as
{{ sql }}
{%- endmacro %}

{# What has no type cannot be stored: it holds NULLs only. #}
{% macro get_staged_columns_sql(from, columns) -%}
    {%- set texts = [] -%}
    {%- for column in columns -%}
        {%- set quoted = dbt_delta._quoted(column.name) -%}
        {%- set type = dbt_delta._stored_type(column.type) -%}
        {%- do texts.append(
            quoted if type == column.type else 'cast(' ~ quoted ~ ' as ' ~ type ~ ') as ' ~ quoted
        ) -%}
    {%- endfor -%}
select {{ texts | join(', ') }} from {{ from }} as batch
{%- endmacro %}

{# A SELECT of which every column can be stored. #}
{% macro _typed(sql) -%}
    {%- set columns = dbt_delta._columns_of(sql) -%}
    {%- for column in columns if dbt_delta._stored_type(column.type) != column.type -%}
        {{- return(dbt_delta.get_staged_columns_sql('(\n' ~ sql ~ ')', columns)) -}}
    {%- endfor -%}
    {{- return(sql) -}}
{%- endmacro %}
