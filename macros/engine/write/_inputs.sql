{# The rows of an input as of a version, or none of them. #}
{% macro _input_sql(input, more='') -%}
    {{- return(
        'select *' ~ more ~ ' from '
        ~ (dbt_delta._named(input.relation) ~ ' where false' if input.kind == 'none'
            else dbt_delta._as_of(input.relation, input.to))
    ) -}}
{%- endmacro %}

{#
    Of each key the row that is there now, or that went. Rows that came and went, equal in all columns, cancel out: a key
    that was there at neither end gives nothing, and so does a second row of a key that came and went. Of what is left the
    row that came wins, and else the last image. A key with more rows than before shows them all, so that the model's
    check of its keys sees them.
#}
{% macro _netted_sql(changes, columns, keys) -%}
{%- set names, key_parts, parts = dbt_delta._quoted_list(columns | map(attribute='name')), [], [] -%}
{%- for column in columns -%}
    {%- do parts.append(dbt_delta._comparable(dbt_delta._quoted(column.name), column.type)) -%}
{%- endfor -%}
{%- for key in keys -%}
    {%- set column = dbt_delta._column(columns, key) -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {#- Keys that a collation calls equal are one key to the merge. -#}
    {%- do key_parts.append(name if ' collate ' in column.type else dbt_delta._comparable(name, column.type)) -%}
{%- endfor -%}
{%- set of_key = 'over (partition by ' ~ key_parts | join(', ') -%}
{%- set of_row = 'over (partition by ' ~ parts | join(', ') -%}
{%- set newest = 'order by _commit_version desc, __dbt_is_after desc' -%}
select
    {{ names }},
    if(__dbt_is_after, 'upsert', 'delete') as _change_type
from (
    select *, max(__dbt_left) {{ of_key }}) as __dbt_most
    from (
        select
            *,
            sum(__dbt_sign) {{ of_row }}) as __dbt_left,
            row_number() {{ of_row }}, __dbt_is_after {{ newest }}) as __dbt_copy
        from (
            select
                *,
                row_number() {{ of_key }} {{ newest }}) as __dbt_place,
                sum(__dbt_sign) {{ of_key }}) as __dbt_more
            from (
                select *, __dbt_sign > 0 as __dbt_is_after
                from (
                    select *, if(_change_type in ('insert', 'update_postimage'), 1, -1) as __dbt_sign
                    from (
{{ changes }}
                    ) as changes
                ) as signed
            ) as images
        ) as of_keys
    ) as of_rows
) as placed
where
    (__dbt_is_after and __dbt_left > 0 and (__dbt_copy = 1 or __dbt_more > 1))
    or (__dbt_most <= 0 and __dbt_place = 1 and (__dbt_is_after or __dbt_more < 0))
{%- endmacro %}

{# The rows that were inserted, except by some commits. #}
{% macro _added_sql(changes, skipped) -%}
select * except (_change_type, _commit_version)
from (
{{ changes }}
) as changes
where _change_type = 'insert'
{%- if skipped %} and _commit_version not in ({{ skipped | join(', ') }}){% endif %}
{%- endmacro %}
