{# What a MERGE needs beside the batch's rows, or none: see Delta's. #}
{% macro _marker(table, batch, settings) -%}
    {{- return(dbt_delta._in_format('marker')(table, batch, settings)) -}}
{%- endmacro %}

{# The batch for FROM, with the marker. #}
{% macro _marked(table, batch, from, keys, marker) -%}
    {%- if not marker or not keys -%}{{- return(from) -}}{%- endif -%}
    {%- set names, is_null, same, has = [], [], [], [] -%}
    {%- for name in keys -%}
        {%- set key = dbt_delta._key(table, name) -%}
        {%- do names.append(key ~ ' as key_' ~ loop.index) -%}
        {%- do is_null.append(key ~ ' is null') -%}
        {%- do same.append(dbt_delta._key_of_batch(table, batch, name, 'batch') ~ ' <=> found.key_' ~ loop.index) -%}
        {%- do has.append('batch.' ~ key ~ ' is not null') -%}
    {%- endfor -%}
(
    select
        batch.*,
    {%- if marker == 'present' %}
        true as __dbt_matchable
    from {{ from }} as batch
    {%- else %}
        ({{ has | join(' and ') }}) or found.is_found is not null as __dbt_matchable
    from {{ from }} as batch
    left join (
        select distinct {{ names | join(', ') }}, true as is_found
        from {{ table.name }}
        where {{ is_null | join(' or ') }}
    ) as found
        on {{ same | join(' and ') }}
    {%- endif %}
)
{%- endmacro %}
