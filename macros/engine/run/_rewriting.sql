{# Runs its block, a MERGE by keys, with the settings that the format has for such a table. #}
{% macro _rewriting(table, layout, replaces_all=true) -%}
    {%- set settings = dbt_delta._in_format('merge_settings')(table, layout) -%}
    {%- if not replaces_all or not settings or adapter.dbt_delta_with is not defined -%}
        {{- return(caller()) -}}
    {%- endif -%}
    {%- do adapter.dbt_delta_with(settings, caller) -%}
{%- endmacro %}

{# Whether each match of the batch is written: otherwise Delta would write files anew, and commit, for nothing. #}
{% macro _replaces_all_matches(settings) -%}
    {{- return(settings.strategy == 'delete+insert' or (
        settings.strategy == 'merge' and not settings.skip_unchanged and not settings.matched_condition
        and not settings.delete_condition and not settings.by_source_action and not settings.skip_matched
    )) -}}
{%- endmacro %}
