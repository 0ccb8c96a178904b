{# Rewrites the files in which deletion vectors hide rows, without those rows; other files stay. #}
{% macro purge_deletion_vectors(relation, where=none, dry_run=false) -%}
    {%- if not execute -%}{{- return('') -}}{%- endif -%}
    {%- set relation = dbt_delta._relation_given(relation, 'purge_deletion_vectors') -%}
    {%- do dbt_delta._delta_table(relation, 'purge_deletion_vectors') -%}
    {{- return(dbt_delta._run_upkeep(
        relation, dbt_delta.get_purge_deletion_vectors_sql(relation, where), dry_run
    )) -}}
{%- endmacro %}

{% macro get_purge_deletion_vectors_sql(relation, where=none) -%}
    {{- return(dbt_delta._purge_sql(relation, where)) -}}
{%- endmacro %}
