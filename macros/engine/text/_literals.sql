{# A string as a SQL literal. Spark replaces ${..} in the text of a statement, also in literals. #}
{% macro _literal(text) -%}
    {%- set escaped = text | string | replace('\\', '\\\\') | replace("'", "\\'") -%}
    {{- return("'" ~ (escaped | replace('${', '\\u0024{')) ~ "'") -}}
{%- endmacro %}

{# Texts as SQL literals. #}
{% macro _literals(texts) -%}
    {%- set literals = [] -%}
    {%- for text in texts -%}{%- do literals.append(dbt_delta._literal(text)) -%}{%- endfor -%}
    {{- return(literals) -}}
{%- endmacro %}

{# Key and value pairs as in tblproperties and options. #}
{% macro _literal_pairs(pairs) -%}
    {%- set texts = [] -%}
    {%- for key, value in pairs.items() -%}
        {%- do texts.append(dbt_delta._literal(key) ~ ' = ' ~ dbt_delta._literal(dbt_delta._plain(value))) -%}
    {%- endfor -%}
    {{- return('(' ~ texts | join(', ') ~ ')') -}}
{%- endmacro %}
