{#
    What dbt-spark's own snapshot calls when it has written: brings a Delta table to its
    configuration, comments and all, where it differs.
#}
{% macro spark__persist_docs(relation, model, for_relation, for_columns) -%}
    {%- if dbt_delta._format() != 'delta' or relation.type == 'view' -%}
        {{- return(dbt.spark__persist_docs(relation, model, for_relation, for_columns)) -}}
    {%- endif -%}
    {%- do dbt_delta._align(dbt_delta._existing(relation), dbt_delta._layout(relation)) -%}
{%- endmacro %}
