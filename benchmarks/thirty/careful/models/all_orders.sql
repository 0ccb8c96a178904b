{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='o_orderkey',
) }}
-- Of each key the newest event of the night, unless the table has a newer one already.
with new as (
    select * except (place)
    from (
        select *, row_number() over (partition by o_orderkey order by seq desc) as place
        from {{ landed('orders') }}
        where
            o_totalprice >= 0
            {% if is_incremental() %}
            and delivered_at > (select max(delivered_at) from {{ this }})
            {% endif %}
    )
    where place = 1
)
select new.*
from new
{% if is_incremental() %}
left join {{ this }} as old on new.o_orderkey = old.o_orderkey
where old.seq is null or new.seq > old.seq
{% endif %}
