{# The one statement that writes a batch; a strategy of the user's own is given a name to read it from. #}
{% macro get_write_sql(target, batch, settings) -%}
    {%- set strategy = settings.strategy | replace('+', '_') -%}
    {%- if settings.strategy in dbt_delta._strategies() -%}
        {{- return(dbt_delta['get_' ~ strategy ~ '_sql'](target, batch, settings)) -}}
    {%- endif -%}
    {{- return(context['get_incremental_' ~ strategy ~ '_sql']({
        'target_relation': this,
        'temp_relation': batch.staging or batch.view,
        'unique_key': config.get('unique_key'),
        'dest_columns': adapter.get_columns_in_relation(this),
        'incremental_predicates': config.get('predicates') or config.get('incremental_predicates'),
    })) -}}
{%- endmacro %}

{#
    Differences between configuration and table that only a rebuild can settle; and what dbt refuses
    of a merge, but not of the first build.
#}
{% macro _validate_target(target, settings, layout) -%}
    {%- if target.provider != 'delta' -%}
        {%- do dbt_delta._drop_python_batch() -%}
        {%- do dbt_delta._refuse(
            target.name ~ ' is a ' ~ target.provider ~ ' table, and the model makes a Delta table: the rows of this run '
            ~ 'would take the place of all. Nothing was changed. Rebuild it with --full-refresh'
            ~ (', or keep its rows: dbt run-operation convert_to_delta --args ' ~ "'{source: "
                ~ dbt_delta._bare(target.relation) ~ "}'" if target.provider == 'parquet' else '') ~ '.'
        ) -%}
    {%- endif -%}
    {%- if settings.strategy in ('merge', 'delete+insert') or (
        settings.strategy == 'insert_overwrite' and target.clustering
    ) -%}
        {%- for column in target.columns if (column.get('declared') or '').startswith('char(') -%}
            {%- do dbt_delta._refuse(
                'Column ' ~ column.name ~ ' of ' ~ target.name ~ ' is ' ~ column.declared ~ ': Delta cannot MERGE into a '
                ~ 'table that has such a column. Nothing was changed. Rebuild it with --full-refresh, which makes it a '
                ~ 'string, or use a strategy without MERGE: append or replace_where.'
            ) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if settings.strategy == 'merge' and settings.update_columns and settings.exclude_columns -%}
        {%- do dbt_delta._refuse(
            'Model cannot specify merge_update_columns and merge_exclude_columns. '
            ~ 'Please update model to use only one config'
        ) -%}
    {%- endif -%}
    {%- if settings.strategy == 'insert_overwrite'
        and layout.partitions | map('lower') | list != target.partitions | map('lower') | list -%}
        {%- do dbt_delta._refuse(
            'partition_by is ' ~ layout.partitions ~ ' and ' ~ target.name ~ ' is partitioned by '
            ~ target.partitions ~ ': insert_overwrite would replace other rows than meant. '
            ~ 'Nothing was written. Rebuild with --full-refresh, or set partition_by to what the table has.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Deletion vectors for tables whose rows are replaced one by one: a change then writes the rows
    that changed, not the files they are in.
#}
{% macro _default_properties(settings, layout) -%}
    {%- if settings.strategy in ('merge', 'delete+insert')
        or (settings.strategy == 'insert_overwrite' and layout.clustering) -%}
        {{- return({'delta.enableDeletionVectors': 'true'}) -}}
    {%- endif -%}
    {{- return({}) -}}
{%- endmacro %}
