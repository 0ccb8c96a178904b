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
    {%- if dbt_delta._is_empty(batch, settings) -%}{{- return(true) -}}{%- endif -%}
    {%- if settings.strategy == 'merge' -%}{{- return(not dbt_delta._has_clause(batch, settings)) -}}{%- endif -%}
    {%- if batch.rows == 0 and settings.strategy == 'replace_where' and dbt_delta._has_subquery(settings.predicates) -%}
        {#- This one writes the rows to keep anew. -#}
        {{- return(run_query(
            'select 1 from ' ~ target.name ~ ' where ' ~ dbt_delta._all_of(settings.predicates) ~ ' limit 1'
        ).rows | length == 0) -}}
    {%- endif -%}
    {%- if not settings.skip_unchanged -%}{{- return(false) -}}{%- endif -%}
    {%- if settings.strategy == 'delete+insert' and settings.predicates_limit_batch and settings.predicates -%}
        {%- set limited = 'select * from ' ~ batch.from ~ ' where ' ~ dbt_delta._all_of(settings.predicates) -%}
        {%- set batch = dict(batch, **{'from': '(' ~ limited ~ ')'}) -%}
    {%- endif -%}
    {%- set replaced = dbt_delta._replaced(target, batch, settings) -%}
    {%- if replaced is none -%}{{- return(false) -}}{%- endif -%}
    {{- return(run_query(
        dbt_delta.get_first_difference_sql(target, batch, replaced, dbt_delta._as_dest(settings))
    ).rows | length == 0) -}}
{%- endmacro %}

{# Whether a merge has a clause: without one, as when nothing is left to update, Spark refuses it. #}
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
    The rows that the write replaces: conditions of which each row meets one at most. None where it replaces
    none, or does not write all of the batch.
#}
{% macro _replaced(target, batch, settings) -%}
    {%- set dest = settings.target_alias -%}
    {%- for name in (target.clustering or target.partitions) if settings.strategy == 'insert_overwrite'
        and dbt_delta._exact_path(batch.columns, name if target.partitions else name.split('.')) is none -%}
        {#- Delta computes it. -#}
        {{- return(none) -}}
    {%- endfor -%}
    {%- if settings.strategy == 'delete+insert' -%}
        {{- return([dbt_delta._all_of(
            [dbt_delta._is_in_batch(target, batch, settings.unique_key, dest)] + dbt_delta._bounds(batch, dest)
            + ([] if settings.predicates_limit_batch else settings.predicates)
        )]) -}}
    {%- elif settings.strategy == 'insert_overwrite' and target.clustering -%}
        {{- return([dbt_delta._is_in_batch(target, batch, target.clustering, dest)]) -}}
    {%- elif settings.strategy == 'insert_overwrite' and target.partitions -%}
        {#- IN skips partitions, and finds none of NULL: these are few. -#}
        {%- set partitions, is_null = dbt_delta._quoted_list(target.partitions), [] -%}
        {%- for name in target.partitions -%}
            {%- do is_null.append(dest ~ '.' ~ dbt_delta._quoted(name) ~ ' is null') -%}
        {%- endfor -%}
        {{- return([
            '(' ~ partitions ~ ') in (select ' ~ partitions ~ ' from ' ~ batch.from ~ ')',
            '(' ~ is_null | join(' or ') ~ ') and '
                ~ dbt_delta._is_in_batch(target, batch, target.partitions, dest),
        ]) -}}
    {%- elif settings.strategy == 'insert_overwrite' -%}
        {{- return(['true']) -}}
    {%- endif -%}
    {%- set window = dbt_delta._window(target) if settings.strategy == 'microbatch' else [] -%}
    {%- set conditions = window + settings.predicates
        if settings.strategy in ('replace_where', 'microbatch') else [] -%}
    {{- return([dbt_delta._all_of(conditions)] if conditions else none) -}}
{%- endmacro %}

{# Whether the batch has a row with the same values of some columns; NULL is a value like any other. #}
{% macro _is_in_batch(target, batch, keys, dest) -%}
    {%- set same = [] -%}
    {%- for key in keys -%}
        {%- do same.append(
            dest ~ '.' ~ dbt_delta._key(target, key) ~ ' <=> ' ~ dbt_delta._key_of_batch(target, batch, key, '__dbt_new')
        ) -%}
    {%- endfor -%}
    {{- return('exists (select 1 from ' ~ batch.from ~ ' as __dbt_new where ' ~ same | join(' and ') ~ ')') -}}
{%- endmacro %}

{# A row if the batch and the rows that it would replace are not the same, counting duplicates. #}
{% macro get_first_difference_sql(target, batch, replaced=['true'], alias='') -%}
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
    from {{ target.name ~ alias }}
    where {{ condition }}
    {%- endfor %}
) as both_sides
group by {{ names | join(', ') }}
having sum(side) != 0
limit 1
{%- endmacro %}
