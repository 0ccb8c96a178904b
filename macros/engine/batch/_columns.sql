{#
    Which columns are written, from what, and what must change in the table first: the part of a batch that does not
    need its rows (see _batch.sql). `promised` is none if only columns may change.
#}
{% macro _column_plan(source_columns, table, settings, promised, sql) -%}
    {%- set written = dbt_delta._without_control_columns(source_columns, settings) -%}
    {%- do dbt_delta._check_contract(written, sql) -%}
    {%- do dbt_delta._in_format('check_columns')(written, table.name) -%}
    {%- set changes = dbt_delta._schema_changes(
        written, table, settings, promised or {'properties': {}, 'checks': {}, 'follows_checks': false}
    ) -%}
    {%- set after = dbt_delta._columns_after(written, table.columns, settings.on_schema_change) -%}
    {%- set columns = [] -%}
    {%- set partitions = dbt_delta._in_format('text_partitions')(table.partitions) | map('lower') | list -%}
    {%- set evolves = settings.strategy == 'merge' and settings.schema_evolution -%}
    {%- for source in written -%}
        {%- set column = dbt_delta._column(after, source.name) -%}
        {%- if evolves -%}
            {#- The MERGE itself brings new columns and fields into the table. -#}
            {%- set column = {
                'name': (column or source).name, 'type': dbt_delta._evolved_type(source, table),
            } -%}
        {%- endif -%}
        {%- if column is not none -%}
            {%- do columns.append({
                'name': column.name, 'type': column.type,
                'source': source.name, 'source_type': source.type,
                'is_partition': column.name | lower in partitions,
                'is_new': evolves and dbt_delta._column(table.columns, source.name) is none,
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not columns -%}
        {%- do dbt_delta._refuse(
            'The model has none of the columns of ' ~ table.name ~ '. The table has '
            ~ table.columns | map(attribute='name') | join(', ') ~ '; the model has '
            ~ source_columns | map(attribute='name') | join(', ') ~ '. Nothing was written.'
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._check_layout_columns(table, columns, settings) -%}
    {%- for name in settings.exclude_columns if settings.strategy == 'merge'
        and dbt_delta._column(source_columns, name) is none and dbt_delta._column(table.columns, name) is none -%}
        {%- do dbt_delta._refuse(
            "merge_exclude_columns names '" ~ name ~ "', which neither the model nor " ~ table.name
            ~ ' has. The model has ' ~ source_columns | map(attribute='name') | join(', ') ~ '.'
        ) -%}
    {%- endfor -%}
    {%- for name in settings.unique_key + (settings.update_columns if settings.strategy == 'merge' else [])
        if dbt_delta._column(columns, name) is none -%}
        {%- do dbt_delta._refuse(
            ('unique_key' if name in settings.unique_key else 'merge_update_columns') ~ " names '" ~ name
            ~ "', which is not a column that the model writes. The model has '"
            ~ source_columns | map(attribute='name') | join(', ') ~ '.'
        ) -%}
    {%- endfor -%}
    {{- return({
        'source_columns': source_columns, 'columns': columns, 'target_columns': after, 'changes': changes,
    }) -}}
{%- endmacro %}

{#
    The type of a column after a MERGE that evolves the schema: it gets new fields, and an atomic type that can be widened
    changes. Fields that the batch does not have stay in it: Delta sets those that an assigned struct lacks to NULL.
#}
{% macro _evolved_type(source, table) -%}
    {%- set found = dbt_delta._column(table.columns, source.name) -%}
    {%- if found is none -%}{{- return(source.type) -}}{%- endif -%}
    {%- set widens = dbt_delta._has_feature(table.properties, 'type_widening') -%}
    {{- return(dbt_delta._type_after(
        source.type, found.type, 'sync_all_columns' if widens else 'append_new_columns'
    )) -}}
{%- endmacro %}

{# Refuses a batch without a column that decides where its rows belong, or which rows they replace. #}
{% macro _check_layout_columns(table, columns, settings) -%}
    {%- set fate = 'new rows would go to the NULL partition' -%}
    {%- set needed = [] if settings.skip_not_matched else dbt_delta._in_format('partition_columns')(table) -%}
    {%- if settings.strategy == 'insert_overwrite' and table.clustering -%}
        {%- set fate = 'its values decide which rows are replaced' -%}
        {%- set needed = table.clustering -%}
    {%- endif -%}
    {%- for name in needed -%}
        {%- set steps = [name] if dbt_delta._column(table.columns, name) is not none else name.split('.') -%}
        {%- set held = dbt_delta._column(table.columns, steps[0]) or {} -%}
        {%- if dbt_delta._exact_path(columns, steps) is none
            and not held.get('default') and not held.get('is_generated') -%}
            {%- do dbt_delta._refuse(
                "The model has no column '" ~ name ~ "', but " ~ table.name ~ ' is '
                ~ ('clustered' if table.clustering else 'partitioned') ~ ' by it: ' ~ fate
                ~ '. Nothing was changed. Add the column to the model, or rebuild with --full-refresh.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# The columns of a batch, except those that only its conditions read. #}
{% macro _without_control_columns(source_columns, settings) -%}
    {%- for name in settings.control_columns if dbt_delta._column(source_columns, name) is none -%}
        {%- do dbt_delta._refuse_missing(
            'incremental_strategy changes' if settings.get('applies_changes') else 'merge_control_columns', name,
            source_columns, 'the model'
        ) -%}
    {%- endfor -%}
    {%- set control = settings.control_columns | map('lower') | list -%}
    {%- set written = [] -%}
    {%- for column in source_columns if column.name | lower not in control -%}
        {%- do written.append(column) -%}
    {%- endfor -%}
    {{- return(written) -}}
{%- endmacro %}

{# The batch's rows with the target's names and nested fields. #}
{% macro _select_batch(batch) -%}
    {%- set columns = [] -%}
    {%- for column in batch.columns -%}
        {%- do columns.append(dbt_delta._value(column) ~ ' as ' ~ dbt_delta._quoted(column.name)) -%}
    {%- endfor -%}
select
    {{ columns | join(',\n    ') }}
from {{ batch.from }}
{%- endmacro %}

{# The columns of the target, except those that Delta computes and the batch does not have. #}
{% macro _filled_columns(batch) -%}
    {%- set columns = [] -%}
    {%- for column in batch.target_columns
        if not column.get('is_generated') or dbt_delta._column(batch.columns, column.name) is not none -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{# A value for each of them; for a column that is not in the batch its DEFAULT, or NULL. #}
{% macro _all_columns(batch, casts=false) -%}
    {%- set values = [] -%}
    {%- for column in dbt_delta._filled_columns(batch) -%}
        {%- set found = dbt_delta._column(batch.columns, column.name) -%}
        {%- set value = dbt_delta._value(found) if found is not none else column.get('default') or 'null' -%}
        {%- if found is none or (casts and found.source_type != column.type) -%}
            {%- set value = 'cast(' ~ value ~ ' as ' ~ column.type ~ ')' -%}
        {%- endif -%}
        {%- do values.append(value ~ ' as ' ~ dbt_delta._quoted(column.name)) -%}
    {%- endfor -%}
    {{- return(values) -}}
{%- endmacro %}

{# The columns of the target that the batch does not have. #}
{% macro _missing_columns(batch) -%}
    {%- set missing = [] -%}
    {%- for column in batch.target_columns if dbt_delta._column(batch.columns, column.name) is none -%}
        {%- do missing.append(column) -%}
    {%- endfor -%}
    {{- return(missing) -}}
{%- endmacro %}
