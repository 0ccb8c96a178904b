{# The value of a string literal. Spark interprets its escapes. #}
{% macro _string_value(token) -%}
    {%- if token[:1] in ('r', 'R') -%}{{- return(token[2:-1]) -}}{%- endif -%}
    {%- if '\\' in token -%}{{- return(run_query('select ' ~ token ~ ' as value').rows[0]['value']) -}}{%- endif -%}
    {{- return(token[1:-1] | replace(token[0] * 2, token[0])) -}}
{%- endmacro %}
