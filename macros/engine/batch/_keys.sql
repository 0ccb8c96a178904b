{# A key in the table: a column, or the path of a field that the table is clustered by. #}
{% macro _key(table, key) -%}
    {%- set is_column = dbt_delta._column(table.columns, key) is not none -%}
    {{- return(dbt_delta._quoted(key) if is_column else dbt_delta._quoted_path(key)) -}}
{%- endmacro %}

{# A key in a row of the batch, as the table stores it. The key is a column or the path of a field. #}
{% macro _key_of_batch(table, batch, key, alias=none) -%}
    {%- set column, steps = dbt_delta._column(batch.columns, key), key.split('.') -%}
    {%- if column is not none -%}{{- return(dbt_delta._stored(column, alias)) -}}{%- endif -%}
    {%- set outer = dbt_delta._column(batch.columns, steps[0]) -%}
    {%- if outer is none or outer.source_type == outer.type -%}
        {{- return((alias ~ '.' if alias else '') ~ dbt_delta._key(table, key)) -}}
    {%- endif -%}
    {{- return('(' ~ dbt_delta._read(outer, alias) ~ ').' ~ dbt_delta._quoted_path(steps[1:])) -}}
{%- endmacro %}

{#
    A row of the table and a row of the batch have the same key; NULL is a key like any other. A key of another type
    is compared as the table stores it: in the wider type, two keys of the table may be equal, and Spark compares
    structs by position.
#}
{% macro _same_keys(settings, columns) -%}
    {%- set same = [] -%}
    {%- for key in settings.unique_key -%}
        {%- do same.append(
            settings.target_alias ~ '.' ~ dbt_delta._quoted(key) ~ ' <=> '
            ~ dbt_delta._stored(dbt_delta._column(columns, key), settings.source_alias)
        ) -%}
    {%- endfor -%}
    {{- return(same) -}}
{%- endmacro %}

{% macro _source_name(name) -%}
    {{- return(dbt_delta._quoted('__dbt_of_' ~ (name | lower))) -}}
{%- endmacro %}

{% macro _is_updated(name, settings) -%}
    {%- set lowered = name | lower -%}
    {%- if settings.update_columns -%}
        {{- return(lowered in settings.update_columns | map('lower') | list) -}}
    {%- endif -%}
    {{- return(
        lowered not in settings.exclude_columns | map('lower') | list
        and lowered not in settings.unique_key | map('lower') | list
    ) -}}
{%- endmacro %}
