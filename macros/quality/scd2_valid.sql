{#
    Rows that break a history: the intervals of a key must follow one another without overlap, a key must have at most
    one open row, and ids must be unique.
#}
{% test scd2_valid(
    model, unique_key, valid_from='dbt_valid_from', valid_to='dbt_valid_to', valid_to_current=none,
    scd_id='dbt_scd_id', allow_gaps=true
) -%}
{%- set keys, names = [], [] -%}
{%- for key in ([unique_key] if unique_key is string else unique_key) -%}
    {%- do keys.append('(' ~ key ~ ') as key_' ~ loop.index) -%}
    {%- do names.append('key_' ~ loop.index) -%}
{%- endfor -%}
{%- set by_key = 'partition by ' ~ names | join(', ') -%}
with history as (
    select
        {{ keys | join(', ') }},
        {{ valid_from }} as valid_from,
        {{ 'nullif(' ~ valid_to ~ ', ' ~ valid_to_current ~ ')' if valid_to_current else valid_to }} as valid_to,
        {{ scd_id if scd_id else 'null' }} as scd_id
    from {{ model }}
),

ordered as (
    select
        *,
        lead(valid_from) over ({{ by_key }} order by valid_from, valid_to is null, valid_to) as next_from,
        count_if(valid_to is null) over ({{ by_key }}) as open_rows,
        count(*) over (partition by scd_id) as rows_of_id
    from history
),

judged as (
    select
        *,
        case
            when valid_from is null then 'valid_from is null'
            when valid_to < valid_from then 'ends before it begins'
            when valid_to is null and open_rows > 1 then 'is one of several open rows'
            when next_from < valid_to or (valid_to is null and next_from is not null)
                then 'overlaps the next row'
            {%- if not allow_gaps %}
            when next_from > valid_to or (next_from is null and valid_to is not null)
                then 'ends, and no row follows'
            {%- endif %}
            {%- if scd_id %}
            when scd_id is null or rows_of_id > 1 then 'scd_id is null or not unique'
            {%- endif %}
        end as problem
    from ordered
)

select {{ names | join(', ') }}, valid_from, valid_to, next_from, scd_id, problem
from judged
where problem is not null
{%- endtest %}
