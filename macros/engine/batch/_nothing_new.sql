{# Whether an empty batch needs no further look: its columns cannot change the table. #}
{% macro _is_settled(batch, settings) -%}
    {{- return(
        dbt_delta._is_empty(batch, settings)
        and settings.on_schema_change == 'ignore'
        and not config.get('contract', {}).enforced
    ) -}}
{%- endmacro %}

{# Whether the batch is empty and its strategy does nothing with an empty batch. #}
{% macro _is_empty(batch, settings) -%}
    {{- return(
        batch.rows == 0 and settings.strategy in ('merge', 'delete+insert') and not settings.by_source_action
    ) -}}
{%- endmacro %}

{# Whether a merge has a clause. Spark refuses a MERGE without one, as when no column is left to update. #}
{% macro _has_clause(batch, settings) -%}
    {%- if settings.strategy != 'merge' or not settings.skip_not_matched or settings.by_source_action
        or settings.delete_condition -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- set updated = [] -%}
    {%- for column in batch.columns if dbt_delta._is_updated(column.name, settings) -%}
        {%- do updated.append(column.name) -%}
    {%- endfor -%}
    {{- return(settings.unique_key and updated and not settings.skip_matched) -}}
{%- endmacro %}

{#
    Conditions for the rows that the write replaces; a row meets at most one of them. None if it replaces no rows, or
    does not write the whole batch.
#}
{% macro _replaced(table, batch, settings) -%}
    {%- set dest = settings.target_alias -%}
    {%- for name in (table.clustering or dbt_delta._in_format('partition_columns')(table))
        if settings.strategy == 'insert_overwrite'
        and dbt_delta._exact_path(batch.columns, name if table.partitions else name.split('.')) is none -%}
        {#- Delta computes it. -#}
        {{- return(none) -}}
    {%- endfor -%}
    {%- if settings.strategy == 'delete+insert' -%}
        {{- return([dbt_delta._all_of(
            [dbt_delta._is_in_batch(table, batch, settings.unique_key, dest)] + dbt_delta._bounds(batch, dest)
            + ([] if settings.predicates_limit_batch else settings.predicates)
        )]) -}}
    {%- elif settings.strategy == 'insert_overwrite' and table.clustering -%}
        {{- return([dbt_delta._is_in_batch(table, batch, table.clustering, dest)]) -}}
    {%- elif settings.strategy == 'insert_overwrite' and table.partitions -%}
        {{- return(dbt_delta._in_format('replaced_partitions')(table, batch, dest)) -}}
    {%- elif settings.strategy == 'insert_overwrite' -%}
        {{- return(['true']) -}}
    {%- endif -%}
    {%- set window = dbt_delta._window(table) if settings.strategy == 'microbatch' else [] -%}
    {%- set conditions = window + settings.predicates
        if settings.strategy in ('replace_where', 'microbatch') else [] -%}
    {{- return([dbt_delta._all_of(conditions)] if conditions else none) -}}
{%- endmacro %}

{# Whether the batch has a row with the same values of some columns; NULL is a value like any other. #}
{% macro _is_in_batch(table, batch, keys, dest) -%}
    {%- set same = [] -%}
    {%- for key in keys -%}
        {%- do same.append(
            dest ~ '.' ~ dbt_delta._key(table, key) ~ ' <=> ' ~ dbt_delta._key_of_batch(table, batch, key, '__dbt_new')
        ) -%}
    {%- endfor -%}
    {{- return('exists (select 1 from ' ~ batch.from ~ ' as __dbt_new where ' ~ same | join(' and ') ~ ')') -}}
{%- endmacro %}

{# One row if the batch and the rows that it would replace differ, counting duplicates. #}
{% macro get_first_difference_sql(table, batch, replaced=['true'], alias='') -%}
{%- set compared, names = [], [] -%}
{%- for column in dbt_delta._filled_columns(batch) -%}
    {%- do compared.append(
        dbt_delta._comparable(dbt_delta._quoted(column.name), column.type) ~ ' as c' ~ loop.index
    ) -%}
    {%- do names.append('c' ~ loop.index) -%}
{%- endfor -%}
select 1 as differs
from (
    select {{ compared | join(', ') }}, 1 as side
    from (select {{ dbt_delta._all_columns(batch, casts=true) | join(', ') }} from {{ batch.from }}) as batch
    {%- for condition in replaced %}
    union all
    select {{ compared | join(', ') }}, -1 as side
    from {{ table.name ~ alias }}
    where {{ condition }}
    {%- endfor %}
) as both_sides
group by {{ names | join(', ') }}
having sum(side) != 0
limit 1
{%- endmacro %}
