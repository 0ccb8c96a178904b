{# Whether nothing is left to ask of an empty batch: its columns cannot change the table. #}
{% macro _is_settled(batch, settings) -%}
    {{- return(
        dbt_delta._is_empty(batch, settings)
        and settings.on_schema_change == 'ignore'
        and not config.get('contract', {}).enforced
    ) -}}
{%- endmacro %}

{# Whether the batch has no row, and its strategy does nothing without. #}
{% macro _is_empty(batch, settings) -%}
    {{- return(
        batch.rows == 0 and settings.strategy in ('merge', 'delete+insert') and not settings.by_source_action
    ) -}}
{%- endmacro %}

{# Whether writing the batch would change nothing: it is empty, or all of it is there. #}
{% macro _is_nothing(target, batch, settings) -%}
    {%- if settings.strategy in ('merge', 'delete+insert') -%}
        {{- return(dbt_delta._is_empty(batch, settings) or not dbt_delta._has_clause(batch, settings)) -}}
    {%- endif -%}
    {%- set replaced = dbt_delta._replaced(target, batch, settings) -%}
    {%- if not settings.skip_unchanged or replaced is none -%}{{- return(false) -}}{%- endif -%}
    {{- return(run_query(dbt_delta.get_first_difference_sql(target, batch, replaced)).rows | length == 0) -}}
{%- endmacro %}

{# Whether a merge has a clause: without one, as when nothing is left to update, Spark refuses it. #}
{% macro _has_clause(batch, settings) -%}
    {%- if settings.strategy != 'merge' or not settings.skip_not_matched or settings.by_source_action -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- set updated = [] -%}
    {%- for column in batch.columns if dbt_delta._is_updated(column.name, settings) -%}
        {%- do updated.append(column.name) -%}
    {%- endfor -%}
    {{- return(settings.unique_key and updated and not settings.skip_matched) -}}
{%- endmacro %}

{# The condition of the rows that the write replaces; none where it replaces none. #}
{% macro _replaced(target, batch, settings) -%}
    {%- if settings.strategy == 'insert_overwrite' and not target.clustering -%}
        {%- set partitions = dbt_delta._quoted_list(target.partitions) -%}
        {{- return(
            '(' ~ partitions ~ ') in (select ' ~ partitions ~ ' from ' ~ batch.from ~ ')'
            if target.partitions else 'true'
        ) -}}
    {%- endif -%}
    {%- set window = dbt_delta._window(target) if settings.strategy == 'microbatch' else [] -%}
    {%- set conditions = window + settings.predicates
        if settings.strategy in ('replace_where', 'microbatch') else [] -%}
    {{- return(dbt_delta._all_of(conditions) or none) -}}
{%- endmacro %}

{# A row if the batch and the rows that it would replace are not the same, counting duplicates. #}
{% macro get_first_difference_sql(target, batch, replaced) -%}
{%- set compared, names = [], [] -%}
{%- for column in batch.target_columns -%}
    {%- do compared.append(
        dbt_delta._comparable(dbt_delta._quoted(column.name), column.type) ~ ' as c' ~ loop.index
    ) -%}
    {%- do names.append('c' ~ loop.index) -%}
{%- endfor -%}
select 1 as differs
from (
    select {{ compared | join(', ') }}, 1 as side
    from (select {{ dbt_delta._all_columns(batch, casts=true) | join(', ') }} from {{ batch.from }}) as batch
    union all
    select {{ compared | join(', ') }}, -1 as side
    from {{ target.name }}
    where {{ replaced }}
) as both_sides
group by {{ names | join(', ') }}
having sum(side) != 0
limit 1
{%- endmacro %}
