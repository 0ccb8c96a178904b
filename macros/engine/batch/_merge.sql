{#
    The parts of a MERGE that follow from the batch: {same, limits, deletes, updated, updates, is_updated, changes}.
    `same` and `limits` are the conditions of ON; `updated` the columns that an update sets, {name, value}; `updates`, empty
    for always, and `deletes` when a row that matches changes; `changes` is either of them.
#}
{% macro _merge_parts(batch, settings) -%}
    {%- set source, dest = settings.source_alias, settings.target_alias -%}
    {%- set limits, updated, unchanged = dbt_delta._bounds(batch, dest) | list, [], [] -%}
    {%- for predicate in settings.predicates -%}{%- do limits.append('(' ~ predicate ~ ')') -%}{%- endfor -%}
    {%- for column in batch.columns if dbt_delta._is_updated(column.name, settings) -%}
        {%- set old = dest ~ '.' ~ dbt_delta._quoted(column.name) if not column.get('is_new') else none -%}
        {%- do updated.append({'name': column.name, 'value': dbt_delta._value(column, source, old)}) -%}
        {%- set new = dbt_delta._stored(column, source, old) -%}
        {%- do unchanged.append(
            new ~ ' is null' if old is none
            else dbt_delta._comparable(old, column.type) ~ ' <=> ' ~ dbt_delta._comparable(new, column.type)
                if not settings.schema_evolution
                    or column.type == dbt_delta._column(batch.target_columns, column.name).type
            else 'false'
        ) -%}
    {%- endfor -%}
    {%- set matched = [] -%}
    {%- if settings.matched_condition -%}{%- do matched.append('(' ~ settings.matched_condition ~ ')') -%}{%- endif -%}
    {%- if settings.skip_unchanged and unchanged -%}
        {%- do matched.append('not (' ~ unchanged | join(' and ') ~ ')') -%}
    {%- endif -%}
    {%- set is_updated = updated and settings.unique_key and not settings.skip_matched -%}
    {%- set updates = matched | join(' and ') if is_updated else 'false' -%}
    {%- set deletes = settings.delete_condition -%}
    {{- return({
        'same': dbt_delta._same_keys(settings, batch.columns), 'limits': limits,
        'deletes': deletes, 'updated': updated, 'updates': updates, 'is_updated': is_updated,
        'changes': '(' ~ updates ~ ') or (' ~ deletes ~ ')' if deletes else updates,
    }) -}}
{%- endmacro %}

{#
    The batch without the rows that match and change nothing, if such rows are skipped and the condition of the update
    is not enough: without deletion vectors Delta rewrites a file, and commits, for a match that updates nothing.
#}
{% macro _merge_source(table, batch, settings, parts) -%}
    {%- if not settings.skip_unchanged or not settings.unique_key or settings.by_source_action
        or dbt_delta._has_feature(table.properties, 'deletion_vectors') -%}
        {{- return(batch.from) -}}
    {%- endif -%}
    {%- set source, dest = settings.source_alias, settings.target_alias -%}
    {%- set keys, same, on = [], [], parts.same + parts.limits -%}
    {%- for key in settings.unique_key -%}
        {%- set column = source ~ '.' ~ dbt_delta._quoted(key) -%}
        {%- do keys.append(column ~ ' as __dbt_key_' ~ loop.index) -%}
        {%- do same.append(column ~ ' <=> __dbt_same.__dbt_key_' ~ loop.index) -%}
    {%- endfor -%}
    {{- return(
        '(\n    select ' ~ source ~ '.* from ' ~ batch.from ~ ' as ' ~ source
        ~ '\n    left anti join (\n        select ' ~ keys | join(', ') ~ '\n        from ' ~ batch.from ~ ' as ' ~ source
        ~ '\n        inner join ' ~ table.name ~ ' as ' ~ dest
        ~ '\n        on ' ~ on | join('\n            and ') ~ '\n        group by all'
        ~ '\n        having bool_or(' ~ parts.changes ~ ') is not true'
        ~ '\n    ) as __dbt_same\n    on ' ~ same | join(' and ') ~ '\n)'
    ) -}}
{%- endmacro %}
