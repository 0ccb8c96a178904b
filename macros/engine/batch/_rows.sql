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
