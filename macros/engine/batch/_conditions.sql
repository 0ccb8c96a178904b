{% macro _all_of(predicates) -%}
    {{- return(
        predicates[0] if predicates | length == 1 else
        ('(' ~ predicates | join(')\n    and (') ~ ')' if predicates else '')
    ) -}}
{%- endmacro %}

{# The alias of the table in conditions. A condition that Delta reads as an option has no alias. #}
{% macro _as_dest(settings) -%}
    {{- return('' if settings.strategy in ('replace_where', 'microbatch') else ' as ' ~ settings.target_alias) -}}
{%- endmacro %}

{# Whether a write replaces rows by a condition that Delta cannot take, so that rows to keep are written anew. #}
{% macro _replaces_by_subquery(settings) -%}
    {{- return(
        settings.strategy in ('replace_where', 'microbatch')
        and dbt_delta._has_subquery(settings.predicates | join(' '))
    ) -}}
{%- endmacro %}

{# Which rows a predicate means, as one text: their number, and their values in the columns that it names. #}
{% macro _meant_rows_sql(table, predicates) -%}
    {%- set predicate, named, all = dbt_delta._all_of(predicates), [], [] -%}
    {%- for column in table.columns -%}
        {%- set value = dbt_delta._comparable(dbt_delta._quoted(column.name), column.type) -%}
        {%- do all.append(value) -%}
        {%- if dbt_delta._mentions(predicate, [column.name]) -%}{%- do named.append(value) -%}{%- endif -%}
    {%- endfor -%}
    {{- return(
        "select concat(count(*), ' ', coalesce(sum(cast(xxhash64(" ~ (named or all) | join(', ')
        ~ ") as decimal(20, 0))), 0)) as meant\nfrom " ~ table.name ~ '\nwhere ' ~ predicate
    ) -}}
{%- endmacro %}

{#
    Settings whose predicates fail once they mean other rows of the table than those of settings.meant: rows would be
    removed that the batch does not replace, or stay beside those that it brings.
#}
{% macro _still_meaning(table, settings) -%}
    {%- if settings.meant is none -%}{{- return(settings) -}}{%- endif -%}
    {%- set changed = dbt_delta._literal(
        'The rows of ' ~ table.name ~ ' that incremental_predicates mean changed during the run. Nothing was written. '
        ~ 'Run the model again.'
    ) -%}
    {{- return(dict(settings, predicates=[
        'if((\n' ~ dbt_delta._meant_rows_sql(table, dbt_delta._replacing(table, settings)) ~ '\n) = '
        ~ dbt_delta._literal(settings.meant) ~ ', (' ~ dbt_delta._all_of(settings.predicates) ~ '), raise_error(' ~ changed ~ '))'
    ])) -}}
{%- endmacro %}

{# The conditions for the rows that replace_where and microbatch replace. #}
{% macro _replacing(table, settings) -%}
    {{- return((dbt_delta._window(table) if settings.strategy == 'microbatch' else []) + settings.predicates) -}}
{%- endmacro %}
