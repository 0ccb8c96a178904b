{#
    Runs its block, a MERGE by keys. As long as a table is small, it is cheaper to write files anew than to mark their
    rows in deletion vectors: three jobs fewer, and no small file and vector more for each run. A model that sets the
    property delta.enableDeletionVectors decides itself.
#}
{% macro _rewriting(table, layout, replaces_all=true) -%}
    {%- set limit = 16 * 1024 * 1024 -%}
    {%- if not replaces_all or adapter.dbt_delta_with is not defined or table.bytes is none or table.bytes > limit
        or 'delta.enableDeletionVectors' in layout.properties -%}
        {{- return(caller()) -}}
    {%- endif -%}
    {%- do adapter.dbt_delta_with({'spark.databricks.delta.merge.deletionVectors.persistent': 'false'}, caller) -%}
{%- endmacro %}

{# Whether each match of the batch is written: otherwise Delta would write files anew, and commit, for nothing. #}
{% macro _replaces_all_matches(settings) -%}
    {{- return(settings.strategy == 'delete+insert' or (
        settings.strategy == 'merge' and not settings.skip_unchanged and not settings.matched_condition
        and not settings.delete_condition and not settings.by_source_action and not settings.skip_matched
    )) -}}
{%- endmacro %}
