{# The SELECT of a model with an enforced contract: checked, its columns in the contract's order. #}
{% macro _contracted(sql) -%}
    {%- if not config.get('contract', {}).enforced -%}{{- return(sql) -}}{%- endif -%}
    {%- do dbt_delta._check_contract(dbt_delta._columns_of(sql), sql) -%}
    {#- dbt's own macro quotes a name only if the YAML says so: otherwise 2024 is a number and a-b a difference. -#}
    {%- set words = ['true', 'false', 'null', 'not', 'case', 'interval', 'distinct', 'all', 'select', 'from'] -%}
    {%- set names = [] -%}
    {%- for column in model.columns.values() -%}
        {%- set is_plain = not column.get('quote') and column.name | lower not in words
            and modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', column.name) is not none -%}
        {%- do names.append(column.name if is_plain else dbt_delta._quoted(column.name)) -%}
    {%- endfor -%}
    {{- return('select ' ~ names | join(', ') ~ '\nfrom (\n' ~ sql ~ '\n) as model_subq') -}}
{%- endmacro %}

{# A SELECT whose columns can all be stored: NULL columns without a type are strings; see also get_guarded_sql. #}
{% macro _typed(sql) -%}
    {%- set columns = dbt_delta._columns_of(sql, stored=true) -%}
    {%- for column in columns if column.get('carried') or dbt_delta._stored_type(column.type) != column.type -%}
        {{- return(dbt_delta.get_staged_columns_sql('(\n' ~ sql ~ ')', columns)) -}}
    {%- endfor -%}
    {{- return(sql) -}}
{%- endmacro %}
