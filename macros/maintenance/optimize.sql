{#
    Rewrites small files as a few large ones, with rows in the order of `zorder_by`, or of the columns that the table
    is clustered by. For hooks, run operations and macros.
#}
{% macro optimize(relation, where=none, zorder_by=[], full=false, dry_run=false) -%}
    {%- if not execute -%}{{- return('') -}}{%- endif -%}
    {%- set relation = dbt_delta._relation_given(relation, 'optimize') -%}
    {%- set existing = dbt_delta._delta_table(relation, 'optimize') -%}
    {%- set zorder_by = dbt_delta._names(zorder_by) -%}
    {%- if existing.clustering and (zorder_by or where) -%}
        {%- do dbt_delta._refuse(
            'optimize has ' ~ ('zorder_by ' ~ zorder_by if zorder_by else "where '" ~ where ~ "'") ~ ', but '
            ~ dbt_delta._named(relation) ~ ' is clustered by ' ~ existing.clustering | join(', ')
            ~ ': OPTIMIZE orders the whole table by these columns. Remove the argument.'
        ) -%}
    {%- elif full and not existing.clustering -%}
        {%- do dbt_delta._refuse(
            'optimize has full: true, which rewrites all files of a clustered table, but '
            ~ dbt_delta._named(relation) ~ ' is not clustered. Remove the argument.'
        ) -%}
    {%- endif -%}
    {%- for name in zorder_by -%}
        {%- if dbt_delta._column(existing.columns, name.split('.')[0]) is none -%}
            {%- do dbt_delta._refuse_missing(
                'optimize: zorder_by', name, existing.columns, dbt_delta._named(relation)
            ) -%}
        {%- elif name | lower in existing.partitions | map('lower') -%}
            {%- do dbt_delta._refuse(
                "optimize: zorder_by names '" ~ name ~ "', but " ~ dbt_delta._named(relation)
                ~ ' is partitioned by it: each file has only one value. Remove it.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(dbt_delta._run_upkeep(
        relation, dbt_delta.get_optimize_sql(relation, where, zorder_by, full), dry_run
    )) -}}
{%- endmacro %}

{% macro get_optimize_sql(relation, where=none, zorder_by=[], full=false) -%}
    {{- return(dbt_delta._optimize_sql(relation, where, zorder_by, full)) -}}
{%- endmacro %}
