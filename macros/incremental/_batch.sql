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

{# Of several rows with one key the first in the given order. #}
{% macro get_latest_sql(sql, unique_key, order_by) -%}
select * except (__dbt_rank)
from (
    select
        *,
        row_number() over (
            partition by {{ dbt_delta._quoted_list(unique_key) }}
            order by {{ order_by }}
        ) as __dbt_rank
    from (
        {{ sql }}
    ) as __dbt_model
) as __dbt_ranked
where __dbt_rank = 1
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
    Which columns are written, from what, and what must change in the table first; `promised` is none where
    only columns may change.
#}
{% macro _plan_columns(batch, source_columns, target, settings, promised, sql) -%}
    {%- set written = dbt_delta._without_control_columns(source_columns, settings) -%}
    {%- do dbt_delta._check_contract(written, sql) -%}
    {%- set changes = dbt_delta._schema_changes(
        written, target, settings, promised or {'properties': {}, 'checks': {}, 'follows_checks': false}
    ) -%}
    {%- set after = dbt_delta._columns_after(written, target.columns, settings.on_schema_change) -%}
    {%- set columns = [] -%}
    {%- set partitions = target.partitions | map('lower') | list -%}
    {%- set evolves = settings.strategy == 'merge' and settings.schema_evolution -%}
    {%- for source in written -%}
        {%- set column = dbt_delta._column(after, source.name) -%}
        {%- if evolves -%}
            {#- The MERGE itself brings new columns and fields into the table. -#}
            {%- set column = {
                'name': (column or source).name, 'type': dbt_delta._evolved_type(source, target),
            } -%}
        {%- endif -%}
        {%- if column is not none -%}
            {%- do columns.append({
                'name': column.name, 'type': column.type,
                'source': source.name, 'source_type': source.type,
                'is_partition': column.name | lower in partitions,
                'is_new': evolves and dbt_delta._column(target.columns, source.name) is none,
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not columns -%}
        {%- do dbt_delta._refuse(
            'The model gives none of the columns of ' ~ target.name ~ ', which are '
            ~ target.columns | map(attribute='name') | join(', ') ~ '. Its own are '
            ~ source_columns | map(attribute='name') | join(', ') ~ '. Nothing was written.'
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._check_layout_columns(target, columns, settings) -%}
    {%- for name in settings.exclude_columns if settings.strategy == 'merge'
        and dbt_delta._column(source_columns, name) is none and dbt_delta._column(target.columns, name) is none -%}
        {%- do dbt_delta._refuse(
            "merge_exclude_columns names '" ~ name ~ "', which neither the model nor " ~ target.name
            ~ ' has. The columns of the model are ' ~ source_columns | map(attribute='name') | join(', ') ~ '.'
        ) -%}
    {%- endfor -%}
    {%- for name in settings.unique_key + (settings.update_columns if settings.strategy == 'merge' else [])
        if dbt_delta._column(columns, name) is none -%}
        {%- do dbt_delta._refuse(
            "The model gives no column '" ~ name ~ "' to write, which "
            ~ ('unique_key' if name in settings.unique_key else 'merge_update_columns')
            ~ ' names. Its columns are ' ~ source_columns | map(attribute='name') | join(', ') ~ '.'
        ) -%}
    {%- endfor -%}
    {%- do batch.update({
        'source_columns': source_columns, 'columns': columns,
        'target_columns': after, 'changes': changes,
    }) -%}
{%- endmacro %}

{# The type of a column after a MERGE that evolves the schema: plain types stay, unless they may be widened. #}
{% macro _evolved_type(source, target) -%}
    {%- set found = dbt_delta._column(target.columns, source.name) -%}
    {%- set widens = dbt_delta._has_property(target.properties, 'delta.enableTypeWidening', true) -%}
    {{- return(
        found.type if found is not none and dbt_delta._type_kind(found.type) == 'atomic'
            and not (widens and dbt_delta._widens(found.type, source.type))
        else source.type
    ) -}}
{%- endmacro %}

{# Refuses a batch without a column that says where its rows belong, or which rows they replace. #}
{% macro _check_layout_columns(target, columns, settings) -%}
    {%- set fate = 'new rows would go to the partition of NULL' -%}
    {%- set needed = [] if settings.skip_not_matched else target.partitions -%}
    {%- if settings.strategy == 'insert_overwrite' and target.clustering -%}
        {%- set fate = 'its values say which rows are replaced' -%}
        {%- set needed = target.clustering -%}
    {%- endif -%}
    {%- for name in needed -%}
        {%- set steps = [name] if dbt_delta._column(target.columns, name) is not none else name.split('.') -%}
        {%- set held = dbt_delta._column(target.columns, steps[0]) or {} -%}
        {%- if dbt_delta._exact_path(columns, steps) is none
            and not held.get('default') and not held.get('is_generated') -%}
            {%- do dbt_delta._refuse(
                "The model gives no column '" ~ name ~ "', by which " ~ target.name ~ ' is '
                ~ ('clustered' if target.clustering else 'partitioned') ~ ': ' ~ fate
                ~ '. Nothing was changed. Give the column, or rebuild with --full-refresh.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# The columns of a batch without those that only its conditions read. #}
{% macro _without_control_columns(source_columns, settings) -%}
    {%- for name in settings.control_columns if dbt_delta._column(source_columns, name) is none -%}
        {%- do dbt_delta._refuse(
            "merge_control_columns names '" ~ name ~ "', which the model does not give. Its columns are "
            ~ source_columns | map(attribute='name') | join(', ') ~ '.'
        ) -%}
    {%- endfor -%}
    {%- set control = settings.control_columns | map('lower') | list -%}
    {%- set written = [] -%}
    {%- for column in source_columns if column.name | lower not in control -%}
        {%- do written.append(column) -%}
    {%- endfor -%}
    {{- return(written) -}}
{%- endmacro %}

{# The rows of a first build, of a batch that deletes too: those that a merge would insert. #}
{% macro get_inserted_sql(sql, settings) -%}
select {{ 'batch.* except (' ~ dbt_delta._quoted_list(settings.control_columns) ~ ')' if settings.control_columns else '*' }}
from (
    select * from (
{{ sql }}
    ) as {{ settings.source_alias }}
    {%- if settings.not_matched_condition %}
    where {{ settings.not_matched_condition }}
    {%- endif %}
) as batch
{%- endmacro %}

{# An enforced contract by the columns that are known already; dbt's own check prints the table. #}
{% macro _check_contract(source_columns, sql) -%}
    {%- if not config.get('contract', {}).enforced -%}{{- return(none) -}}{%- endif -%}
    {%- set unsized = [] -%}
    {%- set same = namespace(so=source_columns | length == model.columns | length) -%}
    {%- for column in model.columns.values() -%}
        {%- set found = dbt_delta._column(source_columns, column.name) -%}
        {%- set type = (column.data_type or '') | lower | replace(' ', '') -%}
        {%- set text = modules.re.fullmatch('(var)?char\\([0-9]+\\)', type) is not none -%}
        {%- if found is not none and type in ('decimal', 'numeric', 'dec') and found.type.startswith('decimal(') -%}
            {%- do unsized.append(column.name) -%}
        {%- elif found is none
            or found.type | replace(' ', '') != ('string' if text else dbt_delta._type_name(type)) -%}
            {%- set same.so = false -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not same.so -%}
        {{ get_assert_columns_equivalent(sql) }}
    {%- elif unsized -%}
        {%- do exceptions.warn(
            'Detected columns with numeric type and unspecified precision/scale, this can lead to unintended rounding: '
            ~ unsized
        ) -%}
    {%- endif -%}
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
