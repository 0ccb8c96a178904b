{#
    Adds the rows of a batch, with columns by name. Columns that are not in the batch get their DEFAULT, or NULL. New rows
    of an input come once: Delta lets only one append go on from a commit, `carrier`; see engine/run/_inputs.sql.
#}
{% macro get_append_sql(table, batch, settings) -%}
insert into {{ table.name }}
{%- if settings.get('carrier') is not none %} with ('txnAppId' = 'dbt_delta', 'txnVersion' = '{{ settings.carrier }}'){% endif %} by name
{{ dbt_delta._in_format('checked_sql')(table, dbt_delta._select_batch(batch), batch) }}
{%- endmacro %}
