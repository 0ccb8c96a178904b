{# A name as Spark reads it whatever it holds. #}
{% macro _quoted(name) -%}
    {{- return('`' ~ (name | string | replace('`', '``')) ~ '`') -}}
{%- endmacro %}

{# A string as a SQL literal. #}
{% macro _literal(text) -%}
    {{- return("'" ~ (text | string | replace('\\', '\\\\') | replace("'", "\\'")) ~ "'") -}}
{%- endmacro %}
