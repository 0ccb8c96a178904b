{% macro _checks_batch(settings) -%}
    {{- return(
        settings.duplicate_keys == 'error'
        or settings.null_keys == 'error'
        or (settings.strategy in ('merge', 'delete+insert') and settings.unique_key | length > 0)
        or (settings.strategy == 'replace_where' and settings.predicates | length > 0)
    ) -}}
{%- endmacro %}

{#
    Refuses a sample where the write replaces more than the rows with the same key: the sample may have only a part of
    them. microbatch replaces only what is in the sample.
#}
{% macro _check_sample(table, settings) -%}
    {%- set replaces = settings.strategy in ('insert_overwrite', 'delete+insert')
        or (settings.strategy == 'replace_where' and settings.predicates) -%}
    {%- if replaces or (settings.strategy == 'merge' and settings.by_source_action) -%}
        {%- do dbt_delta._refuse(
            ('incremental_strategy ' ~ settings.strategy if replaces else 'not_matched_by_source_action')
            ~ ' of ' ~ table.name ~ ' replaces or deletes rows that are not in the batch, and --sample leaves out rows.'
            ~ ' Nothing was changed. Leave the model out with --exclude, or build the sample with --full-refresh in '
            ~ 'another schema.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    One row about the batch: row_count, duplicate_keys, null_rows; low_N, high_N, nulls_N and values_N of each bounded
    key; and lost_N, what the Nth of `losses` counts.
#}
{% macro get_batch_check_sql(from, settings, bounded, losses=[]) -%}
{%- set keys, is_null = [], [] -%}
{%- for key in settings.unique_key -%}
    {%- do keys.append(dbt_delta._quoted(key)) -%}
    {%- do is_null.append(dbt_delta._quoted(key) ~ ' is null') -%}
{%- endfor -%}
select
    coalesce(sum(__dbt_rows), 0) as row_count,
    count_if(__dbt_rows > 1) as duplicate_keys,
    coalesce(sum(case when {{ is_null | join(' or ') }} then __dbt_rows end), 0) as null_rows
    {{- dbt_delta._bound_values(bounded) }}
    {%- for loss in losses %},
    {{ loss.count }} as lost_{{ loop.index0 }}
    {%- endfor %}
from (
    select
        {{ keys | join(', ') }},
        count(*) as __dbt_rows
    from {{ from }} as batch
    group by {{ keys | join(', ') }}
) as __dbt_keys
{%- endmacro %}
