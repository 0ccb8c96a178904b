{# A relation as it was at a version, for any FROM. #}
{% macro _as_of(relation, version) -%}
    {{- return(dbt_delta._in_format('as_of')(relation, version)) -}}
{%- endmacro %}

{# The same at a time. #}
{% macro _as_of_time(relation, time) -%}
    {{- return(dbt_delta._in_format('as_of_time')(relation, time)) -}}
{%- endmacro %}

{% macro _change_feed_sql(relation, first, last) -%}
    {{- return(dbt_delta._in_format('change_feed_sql')(relation, first, last)) -}}
{%- endmacro %}

{% macro _optimize_sql(relation, where=none, zorder_by=[], full=false) -%}
    {{- return(dbt_delta._in_format('optimize_sql')(relation, where, zorder_by, full)) -}}
{%- endmacro %}

{% macro _purge_sql(relation, where=none) -%}
    {{- return(dbt_delta._in_format('purge_sql')(relation, where)) -}}
{%- endmacro %}
