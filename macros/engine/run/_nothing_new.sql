{# Whether writing the batch would change nothing: it is empty, or the table has all of it. #}
{% macro _is_nothing(table, batch, settings) -%}
    {%- if dbt_delta._is_empty(batch, settings) -%}{{- return(true) -}}{%- endif -%}
    {%- if not dbt_delta._has_clause(batch, settings) -%}{{- return(true) -}}{%- endif -%}
    {%- set look = dbt_delta._in_format('look_sql')(table, batch, settings) -%}
    {%- if look and run_query(look).rows | length == 0 -%}{{- return(true) -}}{%- endif -%}
    {%- if settings.strategy == 'merge' -%}{{- return(false) -}}{%- endif -%}
    {%- if batch.rows == 0 and settings.strategy == 'replace_where' and dbt_delta._replaces_by_subquery(settings) -%}
        {#- This statement rewrites the rows to keep. -#}
        {{- return(run_query(
            'select 1 from ' ~ table.name ~ ' where ' ~ dbt_delta._all_of(settings.predicates) ~ ' limit 1'
        ).rows | length == 0) -}}
    {%- endif -%}
    {%- if not settings.skip_unchanged -%}{{- return(false) -}}{%- endif -%}
    {%- if settings.strategy == 'delete+insert' and settings.predicates_limit_batch and settings.predicates -%}
        {%- set limited = 'select * from ' ~ batch.from ~ ' where ' ~ dbt_delta._all_of(settings.predicates) -%}
        {%- set batch = dict(batch, **{'from': '(' ~ limited ~ ')'}) -%}
    {%- endif -%}
    {%- set replaced = dbt_delta._replaced(table, batch, settings) -%}
    {%- if replaced is none -%}{{- return(false) -}}{%- endif -%}
    {{- return(run_query(
        dbt_delta.get_first_difference_sql(table, batch, replaced, dbt_delta._as_dest(settings))
    ).rows | length == 0) -}}
{%- endmacro %}
