{# Updates the rows whose key is in the batch, and inserts the rows with new keys; without unique_key inserts all. #}
{% macro get_merge_sql(table, batch, settings) -%}
{%- set source, dest = settings.source_alias, settings.target_alias -%}
{%- set marker = dbt_delta._marker(table, batch, settings) -%}
{%- set same, limits = dbt_delta._same_keys(settings, batch.columns), dbt_delta._bounds(batch, dest) | list -%}
{%- for predicate in settings.predicates -%}{%- do limits.append('(' ~ predicate ~ ')') -%}{%- endfor -%}
{%- set on = same + ([source ~ '.__dbt_matchable'] if marker else []) + limits -%}
{%- set names, values, updated, unchanged = [], [], [], [] -%}
{%- for column in batch.columns -%}
    {%- do names.append(dbt_delta._quoted(column.name)) -%}
    {%- do values.append(dbt_delta._value(column, source)) -%}
    {%- if dbt_delta._is_updated(column.name, settings) -%}
        {%- set old = dest ~ '.' ~ dbt_delta._quoted(column.name) if not column.get('is_new') else none -%}
        {%- do updated.append(dbt_delta._quoted(column.name) ~ ' = ' ~ dbt_delta._value(column, source, old)) -%}
        {%- set new = dbt_delta._stored(column, source, old) -%}
        {%- do unchanged.append(
            new ~ ' is null' if old is none
            else dbt_delta._comparable(old, column.type) ~ ' <=> ' ~ dbt_delta._comparable(new, column.type)
                if not settings.schema_evolution
                    or column.type == dbt_delta._column(batch.target_columns, column.name).type
            else 'false'
        ) -%}
    {%- endif -%}
{%- endfor -%}
{%- set matched = [] -%}
{%- if settings.matched_condition -%}{%- do matched.append('(' ~ settings.matched_condition ~ ')') -%}{%- endif -%}
{%- if settings.skip_unchanged and unchanged -%}
    {%- do matched.append('not (' ~ unchanged | join(' and ') ~ ')') -%}
{%- endif -%}
{%- set is_updated = updated and settings.unique_key and not settings.skip_matched -%}
{%- set updates = matched | join(' and ') if is_updated else 'false' -%}
{%- set deletes = settings.delete_condition -%}
{%- set changes = '(' ~ updates ~ ') or (' ~ deletes ~ ')' if deletes else updates -%}
merge {{ 'with schema evolution ' if settings.schema_evolution }}into {{ table.name }} as {{ dest }}
using {{ dbt_delta._marked(
    table, batch, dbt_delta._merge_source(table, batch, settings, same + limits, changes), settings.unique_key, marker
) }} as {{ source }}
on
    {{ on | join('\n    and ') if settings.unique_key else 'false' }}
{%- if deletes %}
when matched and ({{ deletes }}) then delete
{%- endif %}
{%- if is_updated %}
when matched{{ ' and ' ~ updates if updates }} then
    update set {{ updated | join(', ') }}
{%- endif %}
{%- if not settings.skip_not_matched %}
when not matched{{ ' and (' ~ settings.not_matched_condition ~ ')' if settings.not_matched_condition }} then
    insert ({{ names | join(', ') }})
    values ({{ values | join(', ') }})
{%- endif %}
{%- if settings.by_source_action %}
when not matched by source{{ ' and (' ~ settings.by_source_condition ~ ')' if settings.by_source_condition }} then
    {{ settings.by_source_action }}
{%- endif %}
{%- endmacro %}

{#
    The batch without the rows that match and change nothing, if such rows are skipped and the condition of the update
    is not enough: without deletion vectors Delta rewrites a file, and commits, for a match that updates nothing.
#}
{% macro _merge_source(table, batch, settings, on, changes) -%}
    {%- if not settings.skip_unchanged or not settings.unique_key or settings.by_source_action
        or dbt_delta._has_feature(table.properties, 'deletion_vectors') -%}
        {{- return(batch.from) -}}
    {%- endif -%}
    {%- set source, dest = settings.source_alias, settings.target_alias -%}
    {%- set keys, same = [], [] -%}
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
        ~ '\n        having bool_or(' ~ changes ~ ') is not true'
        ~ '\n    ) as __dbt_same\n    on ' ~ same | join(' and ') ~ '\n)'
    ) -}}
{%- endmacro %}
