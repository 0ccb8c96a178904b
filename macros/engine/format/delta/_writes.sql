{# INSERT OVERWRITE of all rows, or of the partitions that have rows in the SELECT. #}
{% macro _delta__overwrite_sql(table, batch) -%}
insert overwrite table {{ table.name }}
{%- if table.partitions %} with ('partitionOverwriteMode' = 'dynamic'){% endif %} by name
{{ dbt_delta._select_batch(batch) }}
{%- endmacro %}

{# All rows of a table by those of a SELECT with its columns. #}
{% macro _delta__overwrite_by_name_sql(table, sql) -%}
    {{- return('insert overwrite table ' ~ table.name ~ ' by name\n' ~ sql) -}}
{%- endmacro %}

{# The rows that meet a predicate, by those of the batch. #}
{% macro _delta__replace_where_sql(table, batch, settings) -%}
{%- set predicate = dbt_delta._all_of(settings.predicates) -%}
{%- if dbt_delta._replaces_by_subquery(settings) -%}
    {#- Delta refuses a subquery here (DELTA_UNSUPPORTED_SUBQUERY), so the rows to keep are rewritten.
        Without replaceWhere the overwritten table would lose its clustering. -#}
insert overwrite table {{ table.name }} with ('replaceWhere' = 'true') by name
{{ dbt_delta._with_kept_rows_sql(table, batch, predicate) }}
{%- else -%}
insert overwrite table {{ table.name }} with (
    'replaceWhere' = {{ dbt_delta._literal(predicate) }}
) by name
{{ dbt_delta._select_batch(batch) }}
{%- endif -%}
{%- endmacro %}

{# Delta checks the rows that it writes itself. #}
{% macro _delta__checked_sql(table, sql, batch=none) -%}{{- return(sql) -}}{%- endmacro %}

{% macro _delta__checked_source(table, batch, from) -%}{{- return(from) -}}{%- endmacro %}

{% macro _delta__checked_columns(table) -%}{{- return([]) -}}{%- endmacro %}

{% macro _delta__checked_values(table, values, source) -%}{{- return(values) -}}{%- endmacro %}

{% macro _delta__check_checks(table, settings) -%}{%- endmacro %}

{% macro _delta__check_batch(table, batch, settings) -%}{%- endmacro %}

{# A clause that a MERGE needs without changing a row, or none; see Iceberg's. #}
{% macro _delta__guard_clause(settings, changes_matched) -%}{{- return(none) -}}{%- endmacro %}

{# The settings of an append that two runs must not both make: a SELECT that reads its table is enough. #}
{% macro _delta__once_settings(settings, keys) -%}{{- return(settings) -}}{%- endmacro %}

{# The checks that each write has to make itself. #}
{% macro _delta__own_checks(existing, layout) -%}{{- return({}) -}}{%- endmacro %}

{#
    Delta makes no commit for a MERGE that finds nothing to do. What it would commit for nothing is looked for by
    _is_nothing.
#}
{% macro _delta__look_sql(table, batch, settings) -%}{{- return(none) -}}{%- endmacro %}

{#
    Delta 4.4 treats a row without a match as matched if the condition is true with NULLs for the other side, as in
    `NULL <=> NULL`. With deletion vectors the MERGE then fails ("did not match any merge clause") if no clause takes
    the row. The marker __dbt_matchable in the source makes the condition false there. 'nulls': the marker of a batch
    row with a NULL key says whether the table has that key. 'present': a constant is enough for a table row without a
    match. None if no clause has a condition.
#}
{% macro _delta__marker(table, batch, settings) -%}
    {%- if not dbt_delta._has_feature(table.properties, 'deletion_vectors') -%}
        {{- return(none) -}}
    {%- elif batch.null_rows != 0 and (settings.strategy != 'merge' or settings.not_matched_condition) -%}
        {{- return('nulls') -}}
    {%- endif -%}
    {{- return('present' if settings.strategy == 'merge' and settings.by_source_condition else none) -}}
{%- endmacro %}

{#
    What builds a table: {sql, lost_sql, after}. The statement is one commit; `lost_sql` finds a row if it has replaced a
    commit of another writer, `after` sets what the statement cannot.
#}
{% macro _delta__build_sql(relation, sql, columns, layout, replace, replaced) -%}
    {{- return({
        'sql': dbt_delta.get_create_table_sql(relation, sql, layout, replace=replace),
        'lost_sql': none,
        'after': [],
    }) -}}
{%- endmacro %}

{# A query that finds a row if the replacement of a table has undone a commit; none if it cannot. #}
{% macro _delta__lost_sql(relation, existing) -%}{{- return(none) -}}{%- endmacro %}

{# How a table begins that the catalog does not have: a killed run may have left its folder. #}
{% macro _delta__create_words() -%}{{- return('create or replace table') -}}{%- endmacro %}

{# The SELECT of a new table, of types that can be stored. #}
{% macro _delta__built_sql(sql, columns, layout) -%}{{- return(sql) -}}{%- endmacro %}

{% macro _delta__drop_check_sql(table, name) -%}
    {{- return('alter table ' ~ table ~ ' drop constraint if exists ' ~ dbt_delta._quoted(name)) -}}
{%- endmacro %}

{% macro _delta__add_check_sql(table, name, expression) -%}
    {{- return(
        'alter table ' ~ table ~ ' add constraint ' ~ dbt_delta._quoted(name) ~ ' check (' ~ expression ~ ')'
    ) -}}
{%- endmacro %}
