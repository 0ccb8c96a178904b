{#
    Replaces all rows that have a key of the batch, in one commit: every row of the batch is there twice, once to
    delete the rows with its key and once to be inserted.
#}
{% macro get_delete_insert_sql(table, batch, settings) -%}
{%- set marker = dbt_delta._marker(table, batch, settings) -%}
{%- set dest = settings.target_alias -%}
{%- set on = ['source.__dbt_delete'] -%}
{%- if marker -%}{%- do on.append('source.__dbt_matchable') -%}{%- endif -%}
{%- for key in settings.unique_key -%}
    {%- set source_key = 'source.' ~ dbt_delta._source_name(key) -%}
    {%- set column = dbt_delta._column(batch.columns, key) -%}
    {%- if column is not none and not dbt_delta._fits(column.source_type, column.type) -%}
        {#- The rows to replace have the value as the table stores it. -#}
        {%- set source_key = 'cast(' ~ source_key ~ ' as ' ~ column.type ~ ')' -%}
    {%- endif -%}
    {%- do on.append(dest ~ '.' ~ dbt_delta._key(table, key) ~ ' <=> ' ~ source_key) -%}
{%- endfor -%}
{%- do on.extend(dbt_delta._bounds(batch, dest)) -%}
{%- if not settings.predicates_limit_batch -%}
    {%- for predicate in settings.predicates -%}{%- do on.append('(' ~ predicate ~ ')') -%}{%- endfor -%}
{%- endif -%}
{%- set names, values, source = [], [], [] -%}
{%- for column in batch.columns -%}
    {%- do names.append(dbt_delta._quoted(column.name)) -%}
    {%- do values.append('source.' ~ dbt_delta._source_name(column.name)) -%}
    {%- do source.append(dbt_delta._value(column) ~ ' as ' ~ dbt_delta._source_name(column.name)) -%}
{%- endfor -%}
{#- A nested clustering column is a key, but not a column. -#}
{%- for key in settings.unique_key if dbt_delta._column(batch.columns, key) is none -%}
    {%- do source.append(dbt_delta._key_of_batch(table, batch, key) ~ ' as ' ~ dbt_delta._source_name(key)) -%}
{%- endfor -%}
merge into {{ table.name }} as {{ dest }}
using (
    -- The names of the batch differ from the table's, so a predicate means the table.
    select
        explode(array(true, false)) as __dbt_delete,
        {{ source | join(',\n        ') }}
        {%- for name in (['__dbt_matchable'] if marker else []) + dbt_delta._in_format('checked_columns')(table) %},
        {{ name }}
        {%- endfor %}
    from {{ dbt_delta._in_format('checked_source')(
        table, batch, dbt_delta._marked(table, batch, batch.from, settings.unique_key, marker)
    ) }}
    {%- if settings.predicates_limit_batch and settings.predicates %}
    where {{ dbt_delta._all_of(settings.predicates) }}
    {%- endif %}
) as source
on
    {{ on | join('\n    and ') }}
when matched then delete
when not matched and not source.__dbt_delete then
    insert ({{ names | join(', ') }})
    values ({{ dbt_delta._in_format('checked_values')(table, values, 'source') | join(', ') }})
{%- endmacro %}
