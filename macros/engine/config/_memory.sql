{#
    What this run remembers of a topic, a mapping that all its nodes and threads share: dbt's graph is one object for
    all of them.
#}
{% macro _memory(topic) -%}
    {{- return(graph.setdefault('dbt_delta', {}).setdefault(topic, {})) -}}
{%- endmacro %}
