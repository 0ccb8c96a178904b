{% macro _delta__check_layout() -%}{%- endmacro %}

{% macro _delta__buckets_instead() -%}
    {{- return(' asks for buckets, which Delta does not have. Use liquid_clustered_by.') -}}
{%- endmacro %}

{# Refuses a model of another format that has a target of its own. #}
{% macro _delta__check_target() -%}
    {%- if dbt_delta._format() == 'iceberg' and model.config.get('materialized') not in ('view', 'test') -%}
        {%- do dbt_delta._refuse(
            'file_format of ' ~ model.name ~ ' is iceberg, but target ' ~ target.name ~ ' builds Delta tables. Nothing was '
            ~ 'written. Remove file_format, which follows the target, or use --target iceberg.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Refuses BETWEEN on a partition column in a replace_where: Delta fails on it with an internal error (Invalid call
    to nullable on unresolved object).
#}
{% macro _delta__check_strategy(table, settings) -%}
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

{# Delta keeps MERGEs of the same rows apart at each isolation. #}
{% macro _delta__check_isolation(name, properties) -%}{%- endmacro %}

{# All operations are Delta's. #}
{% macro _delta__check_operation(name) -%}{%- endmacro %}

{% macro _delta__check_snapshot(layout) -%}{%- endmacro %}
