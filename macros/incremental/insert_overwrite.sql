{#
    Replaces the partitions that the batch holds rows of; on a clustered table the rows with the
    batch's values of the clustering columns; on any other the whole table.
#}
{% macro get_insert_overwrite_sql(target, batch, settings) -%}
{%- if target.clustering -%}
    {#- NULLs were counted in unique_key, not in these columns. -#}
    {{ dbt_delta.get_delete_insert_sql(
        target, dict(batch, null_rows=none), dict(settings, unique_key=target.clustering, predicates=[])
    ) }}
{%- else -%}
insert overwrite table {{ target.name }}
{%- if target.partitions %} with ('partitionOverwriteMode' = 'dynamic'){% endif %} by name
{{ dbt_delta._select_batch(batch) }}
{%- endif -%}
{%- endmacro %}
