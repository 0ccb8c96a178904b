{#
    OPTIMIZE of a model with zorder or liquid_clustered_by that was just built, if it has several files.
    What incremental runs add is left to maintain, as a look at it is expensive beside them. What fails is a
    warning.
#}
{% macro _optimize_built(layout) -%}
    {%- if layout.format != 'delta' or not (layout.clustering or config.get('zorder'))
        or dbt_delta._is_skipped(model) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set commit, thresholds = dbt_delta._commits(this, 1)[0], dbt_delta._thresholds(model) -%}
    {%- set files = dbt_delta._metric(commit, ['numFiles']) or 0 -%}
    {%- set bytes = dbt_delta._metric(commit, ['numOutputBytes']) or 0 -%}
    {%- if files < 2 or (files < thresholds.min_small_files and bytes < thresholds.small_file_bytes) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set table = dbt_delta._maintained(this, dbt_delta._describe(this).location, model) -%}
    {%- do dbt_delta._read_states([table]) -%}
    {%- if table.state is not none -%}{%- do dbt_delta._add_rewrites(table) -%}{%- endif -%}
    {%- for step in table.steps if step.kind in ('cluster', 'zorder') -%}
        {%- set taken = dbt_delta._take_upkeep(step) -%}
        {%- if taken.problem -%}
            {%- do exceptions.warn('OPTIMIZE of ' ~ dbt_delta._bare(this) ~ ' failed: ' ~ taken.problem) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
