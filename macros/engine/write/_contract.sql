{# Checks an enforced contract with the columns that are known already; dbt's own check prints the table. #}
{% macro _check_contract(source_columns, sql) -%}
    {%- if not config.get('contract', {}).enforced -%}{{- return(none) -}}{%- endif -%}
    {%- set unsized = [] -%}
    {%- set same = namespace(so=source_columns | length == model.columns | length) -%}
    {%- for column in model.columns.values() -%}
        {%- set found = dbt_delta._column(source_columns, column.name) -%}
        {%- set type = (column.data_type or '') | lower | replace(' ', '') -%}
        {%- set text = modules.re.fullmatch('(var)?char\\([0-9]+\\)', type) is not none -%}
        {%- if found is not none and type in ('decimal', 'numeric', 'dec') and found.type.startswith('decimal(') -%}
            {%- do unsized.append(column.name) -%}
        {%- elif found is none
            or found.type | replace(' ', '') != ('string' if text else dbt_delta._type_name(type)) -%}
            {%- set same.so = false -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not same.so -%}
        {{ get_assert_columns_equivalent(sql) }}
    {%- elif unsized -%}
        {%- do exceptions.warn(
            'Detected columns with numeric type and unspecified precision/scale, this can lead to unintended rounding: '
            ~ unsized
        ) -%}
    {%- endif -%}
{%- endmacro %}
