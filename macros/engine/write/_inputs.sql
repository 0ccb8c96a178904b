{# The rows of an input as of a version, or none of them. #}
{% macro _input_sql(input, more='') -%}
    {{- return(
        'select *' ~ more ~ ' from '
        ~ (dbt_delta._named(input.relation) ~ ' where false' if input.kind == 'none'
            else dbt_delta._as_of(input.relation, input.to))
    ) -}}
{%- endmacro %}

{#
    Of each key the last image: as it is now, or as it was before it went. In one commit the row that came wins over the
    one that went; a key that changed goes as the old one. A key with more rows than before shows them all, so that the
    model's check of its keys sees them.
#}
{% macro _netted_sql(changes, columns, keys) -%}
{%- set names, parts = dbt_delta._quoted_list(columns | map(attribute='name')), [] -%}
{%- for key in keys -%}
    {%- set column = dbt_delta._column(columns, key) -%}
    {%- do parts.append(dbt_delta._comparable(dbt_delta._quoted(column.name), column.type)) -%}
{%- endfor -%}
{%- set of_key = 'over (partition by ' ~ parts | join(', ') -%}
select
    {{ names }},
    if(__dbt_is_after, 'upsert', 'delete') as _change_type
from (
    select
        *,
        row_number() {{ of_key }} order by _commit_version desc, __dbt_is_after desc) as __dbt_place,
        sum(if(__dbt_is_after, 1, -1)) {{ of_key }}) as __dbt_more
    from (
        select *, _change_type in ('insert', 'update_postimage') as __dbt_is_after
        from (
{{ changes }}
        ) as changes
    ) as images
) as placed
where __dbt_place = 1 or (__dbt_more > 1 and __dbt_is_after)
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
