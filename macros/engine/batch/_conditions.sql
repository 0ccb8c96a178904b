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

{#
    Refuses BETWEEN on a partition column in a replace_where: Delta fails on it with an internal error (Invalid call
    to nullable on unresolved object).
#}
{% macro _refuse_between(table, settings) -%}
    {%- if settings.strategy not in ('replace_where', 'microbatch') or dbt_delta._replaces_by_subquery(settings) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- for predicate in settings.predicates if 'between' in dbt_delta._tokens(predicate) | map('lower') -%}
        {%- for name in table.partitions if dbt_delta._mentions(predicate, [name]) -%}
            {%- do dbt_delta._refuse(
                'incremental_predicates of ' ~ table.name ~ ' use BETWEEN on the partition column ' ~ name
                    ~ ', which Delta cannot run: ' ~ predicate ~ '. Nothing was written. Write ' ~ name ~ ' >= .. and '
                ~ name ~ ' <= .. instead.'
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}
