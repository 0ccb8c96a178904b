{#
    Delta 4.4 takes a row without a partner for a matched one if the condition holds for NULLs in
    its partner's place, which `NULL <=> NULL` does; with deletion vectors it then fails
    ("did not match any merge clause") where no clause takes such a row. A marker in the source,
    __dbt_matchable, makes the condition false there. Of a row of the batch with a NULL key it must
    say whether the table has that key: 'nulls'; a row of the table without partner needs no
    more than a constant: 'present'. None where no clause has a condition.
#}
{% macro _marker(table, batch, settings) -%}
    {%- if not dbt_delta._has_property(table.properties, 'delta.enableDeletionVectors', true) -%}
        {{- return(none) -}}
    {%- elif batch.null_rows != 0 and (settings.strategy != 'merge' or settings.not_matched_condition) -%}
        {{- return('nulls') -}}
    {%- endif -%}
    {{- return('present' if settings.strategy == 'merge' and settings.by_source_condition else none) -}}
{%- endmacro %}

{# What a batch is read from, with the marker. #}
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
