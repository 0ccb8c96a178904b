{#
    Delta 4.4 treats a row without a match as matched if the condition is true with NULLs for the other side, as in
    `NULL <=> NULL`. With deletion vectors the MERGE then fails ("did not match any merge clause") if no clause takes
    the row. The marker __dbt_matchable in the source makes the condition false there. 'nulls': the marker of a batch
    row with a NULL key says whether the table has that key. 'present': a constant is enough for a table row without a
    match. None if no clause has a condition.
#}
{% macro _marker(table, batch, settings) -%}
    {%- if not dbt_delta._has_feature(table.properties, 'deletion_vectors') -%}
        {{- return(none) -}}
    {%- elif batch.null_rows != 0 and (settings.strategy != 'merge' or settings.not_matched_condition) -%}
        {{- return('nulls') -}}
    {%- endif -%}
    {{- return('present' if settings.strategy == 'merge' and settings.by_source_condition else none) -}}
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
