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
