{% macro restore_table(model, to) %}
    {% do run_query('restore table ' ~ model ~ ' to version as of ' ~ to) %}
{% endmacro %}
