{# A name as Spark reads it whatever it holds. #}
{% macro _quoted(name) -%}
    {{- return('`' ~ (name | string | replace('`', '``')) ~ '`') -}}
{%- endmacro %}

{# A string as a SQL literal. Spark replaces ${..} in a statement's text, in literals too. #}
{% macro _literal(text) -%}
    {%- set escaped = text | string | replace('\\', '\\\\') | replace("'", "\\'") -%}
    {{- return("'" ~ (escaped | replace('${', '\\u0024{')) ~ "'") -}}
{%- endmacro %}
