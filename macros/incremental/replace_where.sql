{# Replaces the rows that meet the predicates; without predicates it appends. #}
{% macro get_replace_where_sql(table, batch, settings) -%}
{%- set predicate = dbt_delta._all_of(settings.predicates) -%}
{%- if not predicate -%}
    {{ dbt_delta.get_append_sql(table, batch, settings) }}
{%- elif dbt_delta._replaces_by_subquery(settings) -%}
    {#- Delta refuses a subquery here (DELTA_UNSUPPORTED_SUBQUERY), so the rows to keep are rewritten.
        NOT around the predicate would lose rows: Spark turns an IN below it into NOT IN, which is never NULL.
        UNION uses the wider type of both sides, which would change rows to keep, so the batch is cast.
        Without replaceWhere the overwritten table would lose its clustering. -#}
insert overwrite table {{ table.name }} with ('replaceWhere' = 'true') by name
select
    {{ dbt_delta._all_columns(batch, casts=true) | join(',\n    ') }}
from {{ batch.from }}
union all
select {{ dbt_delta._quoted_list(dbt_delta._filled_columns(batch) | map(attribute='name') | list) }}
from {{ table.name }}
where ({{ predicate }}) is not true
{%- else -%}
insert overwrite table {{ table.name }} with (
    'replaceWhere' = {{ dbt_delta._literal(predicate) }}
) by name
{{ dbt_delta._select_batch(batch) }}
{%- endif -%}
{%- endmacro %}
