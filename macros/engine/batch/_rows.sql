{# For each key, only the first row in the given order. #}
{% macro get_latest_sql(sql, unique_key, order_by) -%}
select * except (__dbt_rank)
from (
    select
        *,
        row_number() over (
            partition by {{ dbt_delta._quoted_list(unique_key) }}
            order by {{ order_by }}
        ) as __dbt_rank
    from (
        {{ sql }}
    ) as __dbt_model
) as __dbt_ranked
where __dbt_rank = 1
{%- endmacro %}

{# The rows of a first build with a delete condition: those that a merge would insert. #}
{% macro get_inserted_sql(sql, settings) -%}
select {{ 'batch.* except (' ~ dbt_delta._quoted_list(settings.control_columns) ~ ')' if settings.control_columns else '*' }}
from (
    select * from (
{{ sql }}
    ) as {{ settings.source_alias }}
    {%- if settings.not_matched_condition %}
    where {{ settings.not_matched_condition }}
    {%- endif %}
) as batch
{%- endmacro %}

{#
    The rows of the batch, and those of the table that a predicate does not mean. NOT around the predicate would lose
    rows: Spark turns an IN below it into NOT IN, which is never NULL. UNION uses the wider type of both sides, which
    would change rows to keep, so the batch is cast.
#}
{% macro _with_kept_rows_sql(table, batch, predicate) -%}
select
    {{ dbt_delta._all_columns(batch, casts=true) | join(',\n    ') }}
from {{ batch.from }}
union all
select {{ dbt_delta._quoted_list(dbt_delta._filled_columns(batch) | map(attribute='name') | list) }}
from {{ table.name }}
where ({{ predicate }}) is not true
{%- endmacro %}
