{#
    Replaces the partitions that the batch holds rows of; on a clustered table the rows with the
    batch's values of the clustering columns; on any other the whole table.
#}
{% macro get_insert_overwrite_sql(table, batch, settings) -%}
{%- if table.clustering -%}
    {#- NULLs were counted in unique_key, not in these columns. -#}
    {{ dbt_delta.get_delete_insert_sql(
        table, dict(batch, null_rows=none), dict(settings, unique_key=table.clustering, predicates=[])
    ) }}
{%- else -%}
insert overwrite table {{ table.name }}
{%- if table.partitions %} with ('partitionOverwriteMode' = 'dynamic'){% endif %} by name
{{ dbt_delta._select_batch(batch) }}
{%- endif -%}
{%- endmacro %}
