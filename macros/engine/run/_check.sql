{# Refuses a condition of the configuration that Spark cannot plan, with the name of its config. #}
{% macro _check_conditions(table, batch, settings) -%}
    {%- if adapter.dbt_delta_problem is not defined -%}{{- return(none) -}}{%- endif -%}
    {%- set of_table, added = table.name ~ dbt_delta._as_dest(settings), [] -%}
    {%- for change in batch.changes if change.kind == 'add' -%}
        {%- if change.path | length > 1 -%}{{- return(none) -}}{%- endif -%}
        {%- do added.append(
            'cast(null as ' ~ dbt_delta._stored_type(change.type) ~ ') as ' ~ dbt_delta._quoted(change.path[0])
        ) -%}
    {%- endfor -%}
    {%- if added -%}
        {#- A condition may name a column that this run adds. -#}
        {%- set of_table = '(select *, ' ~ added | join(', ') ~ ' from ' ~ table.name ~ ')'
            ~ dbt_delta._as_dest(settings) -%}
    {%- endif -%}
    {%- set of_both = of_table ~ ' cross join ' ~ batch.from ~ ' as ' ~ settings.source_alias -%}
    {%- set is_merge = settings.strategy == 'merge' -%}
    {%- for from, name, condition in [
        (of_both, 'matched_delete_condition', settings.delete_condition),
        (of_both, 'matched_condition', settings.matched_condition if is_merge else none),
        (of_both, 'not_matched_condition', settings.not_matched_condition if is_merge else none),
        (of_table, 'not_matched_by_source_condition', settings.by_source_condition if is_merge else none),
        (
            of_both if is_merge else batch.from ~ ' as batch' if settings.predicates_limit_batch
                and settings.strategy == 'delete+insert' else of_table,
            'incremental_predicates',
            dbt_delta._all_of(settings.predicates) if settings.strategy in dbt_delta._strategies() else none,
        ),
    ] if condition -%}
        {%- set problem = adapter.dbt_delta_problem(
            'select (' ~ condition ~ ') as is_so from ' ~ from
        ) -%}
        {%- if problem -%}
            {%- do dbt_delta._refuse(
                name ~ ' of ' ~ table.name ~ ' is ' ~ condition ~ '. Spark refuses it: ' ~ problem
                ~ ' Nothing was written.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# Refuses an expression on the rows of a table that is not one, or that Spark refuses in this condition. #}
{% macro _check_expression(name, expression, condition, what) -%}
    {%- set problem = 'Its brackets do not match.' if not dbt_delta._is_balanced(expression)
        else dbt_delta._attempt(
            'select 1 from ' ~ name ~ ' join (select 1 as __dbt_one) as __dbt_other on (' ~ condition ~ '\n) limit 0'
        ).problem -%}
    {%- if problem -%}
        {%- do dbt_delta._refuse(
            what ~ " '" ~ expression | trim ~ "'. Spark refuses it: " ~ problem ~ ' Nothing was changed.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# Refuses rows that a replace_where would write but not replace; returns the number of rows. #}
{% macro _check_predicate(table, batch, predicates) -%}
    {%- set predicate = dbt_delta._all_of(predicates) -%}
    {%- set outside = run_query(
        'select count(*) as row_count, count_if(__dbt_inside is not true) as outside from (select ('
        ~ predicate ~ ') as __dbt_inside from ' ~ batch.from ~ ') as __dbt_batch'
    ).rows[0] -%}
    {%- if outside['outside'] | int > 0 -%}
        {%- do dbt_delta._refuse_batch(
            batch,
            outside['outside'] | int ~ ' of ' ~ outside['row_count'] | int ~ ' rows of the batch for '
            ~ table.name ~ ' do not meet incremental_predicates, ' ~ predicate
            ~ '. Nothing was written. Filter the model by the same condition, or widen incremental_predicates.'
        ) -%}
    {%- endif -%}
    {{- return(outside['row_count'] | int) -}}
{%- endmacro %}

{#
    Which rows a predicate with a subquery means before the batch is read; none without a subquery, or if Spark refuses
    the predicate, as where this run adds a column that it names. See _still_meaning.
#}
{% macro _meant_rows(table, settings) -%}
    {%- if not dbt_delta._replaces_by_subquery(settings) -%}{{- return(none) -}}{%- endif -%}
    {%- set found = dbt_delta._attempt(dbt_delta._meant_rows_sql(table, dbt_delta._replacing(table, settings))) -%}
    {{- return(found.rows[0]['meant'] if found.rows else none) -}}
{%- endmacro %}

{#
    Refuses to write NULL to an identity column, or to a column that Delta may compute or that may have a DEFAULT, if
    Spark does not say. Writers before version 4 compute nothing.
#}
{% macro _check_defaults(table, batch) -%}
    {%- set computing = ['legacy'] if '4' <= table.properties.get('delta.minWriterVersion', '4') < '7' else [] -%}
    {%- for feature in ('allowColumnDefaults', 'generatedColumns', 'identityColumns')
        if dbt_delta._has_feature(table.properties, feature) -%}
        {%- do computing.append(feature) -%}
    {%- endfor -%}
    {%- for column in table.columns if dbt_delta._column(batch.columns, column.name) is none -%}
        {%- set is_identity = column.get('is_generated') and not column.get('generation') -%}
        {%- if is_identity or (computing and column.default is not defined) -%}
            {%- do dbt_delta._refuse_batch(
                batch,
                'The model has no column ' ~ column.name ~ ', which ' ~ ('is an identity' if is_identity
                    else 'may have a DEFAULT or be computed') ~ ' in ' ~ table.name
                ~ ': with a subquery in incremental_predicates it would be NULL. Nothing was written. Add the column.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# Stops the model and drops its staged batch. #}
{% macro _refuse_batch(batch, text) -%}
    {%- if batch.get('staging') is not none -%}{%- do dbt_delta._drop(batch.staging) -%}{%- endif -%}
    {%- do dbt_delta._refuse(text) -%}
{%- endmacro %}

{#
    Refuses differences between configuration and table that only a rebuild can resolve, and configs of a merge that
    dbt refuses, too, but not in the first build.
#}
{% macro _validate_target(table, settings, layout) -%}
    {%- if table.provider != dbt_delta._target_format() -%}
        {%- do dbt_delta._drop_python_batch() -%}
        {%- do dbt_delta._refuse(
            table.name ~ ' is a ' ~ table.provider ~ ' table, but the model builds ' ~ dbt_delta._in_format('a_table')() ~ ': the rows of this run '
            ~ 'would replace all rows. Nothing was changed. Rebuild it with --full-refresh'
            ~ (', or keep its rows: dbt run-operation convert_to_delta --args ' ~ "'{source: "
                ~ dbt_delta._bare(table.relation) ~ "}'" if table.provider == 'parquet' else '') ~ '.'
        ) -%}
    {%- endif -%}
    {%- if settings.strategy in ('merge', 'delete+insert') or (
        settings.strategy == 'insert_overwrite' and table.clustering
    ) -%}
        {%- for column in table.columns if (column.get('declared') or '').startswith('char(') -%}
            {%- do dbt_delta._refuse(
                'Column ' ~ column.name ~ ' of ' ~ table.name ~ ' is ' ~ column.declared ~ ': Delta cannot MERGE into a '
                ~ 'table that has such a column. Nothing was changed. Rebuild with --full-refresh, which makes it a '
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
        and dbt_delta._name_layout(dict(layout, clustering=[]), table.columns).partitions | map('lower') | list
            != table.partitions | map('lower') | list -%}
        {%- do dbt_delta._refuse(
            'partition_by is ' ~ layout.partitions ~ ', but ' ~ table.name ~ ' is partitioned by '
            ~ table.partitions ~ ': insert_overwrite would replace the wrong rows. '
            ~ 'Nothing was written. Rebuild with --full-refresh, or set partition_by to ' ~ table.partitions ~ '.'
        ) -%}
    {%- elif settings.strategy == 'insert_overwrite' and not dbt_delta._flag('incremental_apply_config_changes', true)
        and layout.clustering | map('lower') | sort != table.clustering | map('lower') | sort -%}
        {%- do dbt_delta._refuse(
            'liquid_clustered_by is ' ~ layout.clustering ~ ', but ' ~ table.name ~ ' is clustered by '
            ~ table.clustering ~ ', and incremental_apply_config_changes is false: insert_overwrite would replace the '
            ~ 'wrong rows. Nothing was written. Set liquid_clustered_by to ' ~ table.clustering
            ~ ', or incremental_apply_config_changes to true.'
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._in_format('check_strategy')(table, settings) -%}
    {%- do dbt_delta._in_format('check_isolation')(table.name, table.properties) -%}
{%- endmacro %}
