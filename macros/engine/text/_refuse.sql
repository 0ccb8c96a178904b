{# Stops the model before anything is written. #}
{% macro _refuse(text) -%}
    {%- do exceptions.raise_compiler_error(text) -%}
{%- endmacro %}
