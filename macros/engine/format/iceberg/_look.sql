{#
    A query that finds a row if the write would change anything; none if it certainly does. Iceberg commits also what
    changes nothing.
#}
{% macro _iceberg__look_sql(table, batch, settings) -%}
    {%- set strategy, any_row = settings.strategy, 'select 1 from ' ~ batch.from ~ ' as batch' -%}
    {%- if strategy == 'merge' -%}
        {{- return(dbt_delta._iceberg__merge_look_sql(table, batch, settings)) -}}
    {%- elif strategy == 'delete+insert' and settings.predicates_limit_batch and settings.predicates -%}
        {{- return(any_row ~ ' where ' ~ dbt_delta._all_of(settings.predicates) ~ '\nlimit 1') -}}
    {%- elif strategy in ('replace_where', 'microbatch', 'insert_overwrite') and batch.rows in (none, 0)
        and not (strategy == 'insert_overwrite' and table.partitions) -%}
        {%- set predicates = dbt_delta._replacing(table, settings) -%}
        {%- set is_where = strategy != 'insert_overwrite' and predicates | length > 0 -%}
        {%- set replaced = '\nunion all\nselect 1 from ' ~ table.name -%}
        {%- set where = ' where ' ~ dbt_delta._all_of(predicates) if is_where else '' -%}
        {{- return(
            any_row ~ (replaced ~ where if is_where or strategy == 'insert_overwrite' else '') ~ '\nlimit 1'
        ) -}}
    {%- elif strategy in dbt_delta._strategies() and batch.rows is none -%}
        {{- return(any_row ~ '\nlimit 1') -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}

{#
    The same for a MERGE: matches that change, rows of the batch without a match, rows of the table without one. Matches
    come from an inner join, for which the batch is sent to the table's files.
#}
{% macro _iceberg__merge_look_sql(table, batch, settings) -%}
    {%- set parts = dbt_delta._merge_parts(batch, settings) -%}
    {%- set source, dest = settings.source_alias, settings.target_alias -%}
    {%- set inserts = settings.not_matched_condition or 'true' if not settings.skip_not_matched else none -%}
    {%- if not settings.unique_key and batch.rows -%}{{- return(none) -}}
    {%- elif batch.rows and inserts == 'true' and parts.is_updated and not parts.updates -%}{{- return(none) -}}
    {%- endif -%}
    {%- set from, looks = batch.from ~ ' as ' ~ source, [] -%}
    {%- set on = (parts.same + parts.limits) | join(' and ') if settings.unique_key else 'false' -%}
    {%- set keys, found = [], [] -%}
    {%- for key in settings.unique_key -%}
        {%- set name = source ~ '.' ~ dbt_delta._quoted(key) -%}
        {%- do keys.append(name ~ ' as __dbt_key_' ~ loop.index) -%}
        {%- do found.append(name ~ ' <=> __dbt_found.__dbt_key_' ~ loop.index) -%}
    {%- endfor -%}
    {%- set matches = ' from ' ~ from ~ ' inner join ' ~ table.name ~ ' as ' ~ dest ~ ' on ' ~ on -%}
    {%- set changes = 'true' if parts.is_updated and not parts.updates else parts.changes -%}
    {%- if settings.unique_key and changes != 'false' -%}
        {%- do looks.append('select 1 as changes' ~ matches ~ ' where ' ~ changes) -%}
    {%- endif -%}
    {%- if inserts is not none and not settings.unique_key -%}
        {%- do looks.append('select 1 as changes from ' ~ from ~ ' where ' ~ inserts) -%}
    {%- elif inserts is not none -%}
        {%- do looks.append(
            'select 1 as changes from ' ~ from ~ ' left anti join (select ' ~ keys | join(', ') ~ matches
            ~ ' group by all) as __dbt_found on ' ~ found | join(' and ') ~ ' where ' ~ inserts
        ) -%}
    {%- endif -%}
    {%- if settings.by_source_action -%}
        {%- do looks.append(
            'select 1 as changes from ' ~ table.name ~ ' as ' ~ dest ~ ' left anti join ' ~ from ~ ' on ' ~ on
            ~ (' where ' ~ settings.by_source_condition if settings.by_source_condition else '')
        ) -%}
    {%- endif -%}
    {{- return(looks | join('\nunion all\n') ~ '\nlimit 1') -}}
{%- endmacro %}
