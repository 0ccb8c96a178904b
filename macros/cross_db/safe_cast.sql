{#
    dbt.safe_cast: NULL where a value does not fit; dbt-spark's fails (ANSI). What a unit test gives must fit. Without the
    quotes, Spark reads the value of a struct, an array or a map as code.
#}
{% macro spark__safe_cast(field, type) -%}
    {%- set is_given = model is defined and 'get_fixture_sql(' in (model.raw_code or '') -%}
    {%- set is_nested = modules.re.match('(?i)(struct|array|map)\\b', type | string) -%}
    {%- set value = field.strip('"').strip("'") if is_nested and field is string else field -%}
    {{- ('cast(' if is_given else 'try_cast(') ~ value ~ ' as ' ~ type ~ ')' -}}
{%- endmacro %}
