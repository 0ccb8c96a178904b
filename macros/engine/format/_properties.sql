{# Whether a property is one of the format's own. #}
{% macro _is_format_property(key) -%}
    {{- return(dbt_delta._in_format('is_format_property')(key)) -}}
{%- endmacro %}

{#
    Whether a table has a property; keys and values as Delta stores them. A feature counts with any accepted word, and
    a table may need newer readers and writers than the property says.
#}
{% macro _has_property(properties, key, value) -%}
    {{- return(dbt_delta._in_format('has_property')(properties, key, value)) -}}
{%- endmacro %}

{# The property that holds a CHECK constraint. #}
{% macro _constraint_property(name) -%}
    {{- return(dbt_delta._in_format('constraint_property')(name)) -}}
{%- endmacro %}

{# The names of the CHECK constraints among properties. #}
{% macro _constraint_names(properties) -%}
    {{- return(dbt_delta._in_format('constraint_names')(properties)) -}}
{%- endmacro %}

{# Whether a new version of a table must set a property that the table has; Delta sets the others itself. #}
{% macro _is_restated(key) -%}{{- return(dbt_delta._in_format('is_restated')(key)) -}}{%- endmacro %}

{# The property that says how long a table keeps its files, or its log. #}
{% macro _retention_property(of) -%}
    {{- return(dbt_delta._in_format('retention_property')(of)) -}}
{%- endmacro %}

{# The properties that decide how long versions can be read, with Delta's defaults. #}
{% macro _retention_properties() -%}
    {{- return(dbt_delta._in_format('retention_properties')()) -}}
{%- endmacro %}

{# The columns for which Delta stores minimum and maximum: the first 32, or those that a property names. #}
{% macro _columns_with_statistics(state) -%}
    {{- return(dbt_delta._in_format('columns_with_statistics')(state)) -}}
{%- endmacro %}

{# The properties that make Delta store the minimum and maximum of these columns. #}
{% macro _statistics_properties(names) -%}
    {{- return(dbt_delta._in_format('statistics_properties')(names)) -}}
{%- endmacro %}

{# The expression of a constraint among properties. #}
{% macro _constraint(properties, name) -%}
    {{- return(dbt_delta._in_format('constraint')(properties, name)) -}}
{%- endmacro %}
