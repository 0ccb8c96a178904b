{# Rows in which two relations differ: `to` is before, the tested relation is after. #}
{% test reconciles_with(model, to, unique_key=none, exclude_columns=[], tolerance={}) -%}
    {{- dbt_delta.get_diff_relations_sql(
        to, dbt_delta._tested_relation(model, 'reconciles_with'), unique_key, exclude_columns, tolerance
    ) -}}
{%- endtest %}
