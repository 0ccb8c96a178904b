{#
    The rows that were added to an input since this model read it. An input whose rows also change or go is refused,
    unless an argument says that such commits do not matter.
#}
{% macro new_rows(relation, on_gap='fail', ignore_deletes=false, skip_change_commits=false) -%}
    {%- if not execute -%}{{- return('(select * from ' ~ relation ~ ')') -}}{%- endif -%}
    {%- if relation.is_cte -%}{{- return(dbt_delta._given_input(relation, 'new_rows', '*')) -}}{%- endif -%}
    {%- set input = dbt_delta._new_input(
        relation, 'new_rows', ['append', 'merge', 'delete+insert'], on_gap,
        {'ignore_deletes': ignore_deletes, 'skip_change_commits': skip_change_commits}
    ) -%}
    {{- return(dbt_delta._marked_input(input, dbt_delta._new_rows_sql(input))) -}}
{%- endmacro %}

{% macro _new_rows_sql(input) -%}
    {%- if input.kind != 'rows' -%}{{- return(dbt_delta._input_sql(input)) -}}{%- endif -%}
    {%- set skipped = dbt_delta._skipped_versions(
        dbt_delta._commit_kinds(input.location, input.from, input.to), input
    ) -%}
    {%- if skipped and not input.changes.is_feed -%}
        {%- do dbt_delta._refuse(
            'new_rows of ' ~ dbt_delta._named(input.relation) ~ ': version ' ~ skipped[0] ~ ' is to be skipped, which '
            ~ "needs a change feed of all versions after " ~ input.from ~ ". Nothing was written. Set delta."
            ~ 'enableChangeDataFeed on the input, and build ' ~ dbt_delta._named(this) ~ ' anew with --full-refresh.'
        ) -%}
    {%- endif -%}
    {{- return(dbt_delta._added_sql(input.changes.text, skipped)) -}}
{%- endmacro %}
