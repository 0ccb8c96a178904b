{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key=['l_orderkey', 'l_linenumber'],
) }}
-- Of each key the newest event of the night, unless the table has a newer one already.
with new as (
    select * except (place)
    from (
        select *, row_number() over (partition by l_orderkey, l_linenumber order by seq desc) as place
        from {{ landed('lineitem') }}
        where
            l_quantity > 0 and l_discount <= 1
            {% if is_incremental() %}
            and delivered_at > (select max(delivered_at) from {{ this }})
            {% endif %}
    )
    where place = 1
)
select new.*
from new
{% if is_incremental() %}
left join {{ this }} as old on new.l_orderkey = old.l_orderkey and new.l_linenumber = old.l_linenumber
where old.seq is null or new.seq > old.seq
{% endif %}
