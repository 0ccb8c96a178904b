{#
    Puts the rows of small files into few large ones, in the order of `zorder_by`, or of the columns
    that the table is clustered by. For hooks, run operations and macros.
#}
{% macro optimize(relation, where=none, zorder_by=[], full=false, dry_run=false) -%}
    {%- if not execute -%}{{- return('') -}}{%- endif -%}
    {%- set relation = dbt_delta._relation_given(relation, 'optimize') -%}
    {%- set existing = dbt_delta._delta_table(relation, 'optimize') -%}
    {%- set zorder_by = dbt_delta._names(zorder_by) -%}
    {%- if existing.clustering and (zorder_by or where) -%}
        {%- do dbt_delta._refuse(
            'optimize has ' ~ ('zorder_by ' ~ zorder_by if zorder_by else "where '" ~ where ~ "'") ~ ', and '
            ~ dbt_delta._named(relation) ~ ' is clustered by ' ~ existing.clustering | join(', ')
            ~ ': OPTIMIZE orders all of it by those. Leave it out.'
        ) -%}
    {%- elif full and not existing.clustering -%}
        {%- do dbt_delta._refuse(
            'optimize has full: true, which writes all files of a clustered table anew; '
            ~ dbt_delta._named(relation) ~ ' has no clustering. Leave it out.'
        ) -%}
    {%- endif -%}
    {%- for name in zorder_by -%}
        {%- if dbt_delta._column(existing.columns, name.split('.')[0]) is none -%}
            {%- do dbt_delta._refuse(
                "optimize: zorder_by names '" ~ name ~ "', which " ~ dbt_delta._named(relation)
                ~ ' has not. Its columns are ' ~ existing.columns | map(attribute='name') | join(', ') ~ '.'
            ) -%}
        {%- elif name | lower in existing.partitions | map('lower') -%}
            {%- do dbt_delta._refuse(
                "optimize: zorder_by names '" ~ name ~ "', by which " ~ dbt_delta._named(relation)
                ~ ' is partitioned: it is one value in each file. Leave it out.'
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
