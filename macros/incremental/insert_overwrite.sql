{#
    Replaces the partitions that have rows in the batch. In a clustered table it replaces the rows with the batch's
    values in the clustering columns, in any other table all rows.
#}
{% macro get_insert_overwrite_sql(table, batch, settings) -%}
{%- if table.clustering -%}
    {#- NULLs were counted only in unique_key, not in these columns. -#}
    {{ dbt_delta.get_delete_insert_sql(
        table, dict(batch, null_rows=none), dict(settings, unique_key=table.clustering, predicates=[])
    ) }}
{%- else -%}
    {{ dbt_delta._in_format('overwrite_sql')(table, batch) }}
{%- endif -%}
{%- endmacro %}
