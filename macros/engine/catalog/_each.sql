{#
    What a macro returns for each of some calls, {label: arguments}, by label: several at once, on sessions of their
    own, where the plugin is there. Calls must not depend on each other, nor on settings of this session. Where some
    fail, the others are done all the same; without the plugin the first failure ends it.
#}
{% macro _each(macro, calls) -%}
    {%- if adapter.dbt_delta_each is defined -%}
        {{- return(adapter.dbt_delta_each(macro, calls)) -}}
    {%- endif -%}
    {%- set results = {} -%}
    {%- for label, arguments in calls.items() -%}
        {%- do results.update({label: macro(**arguments)}) -%}
    {%- endfor -%}
    {{- return(results) -}}
{%- endmacro %}
