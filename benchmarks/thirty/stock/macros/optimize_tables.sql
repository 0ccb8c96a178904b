{# What a careful user runs each night: small files together, old files away (older than Delta's seven days). #}
{% macro optimize_tables() %}
    {% for node in graph.nodes.values() if node.config.materialized in ('table', 'incremental', 'snapshot') %}
        {% do run_query('optimize ' ~ node.schema ~ '.' ~ node.alias) %}
        {% do run_query('vacuum ' ~ node.schema ~ '.' ~ node.alias) %}
    {% endfor %}
{% endmacro %}
