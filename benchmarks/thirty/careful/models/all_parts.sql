{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='p_partkey',
) }}
-- Of each key the newest event of the night, unless the table has a newer one already.
with new as (
    select * except (place)
    from (
        select *, row_number() over (partition by p_partkey order by seq desc) as place
        from {{ landed('part') }}
        where
            p_retailprice is not null and changed_at is not null
            {% if is_incremental() %}
            and delivered_at > (select max(delivered_at) from {{ this }})
            {% endif %}
    )
    where place = 1
)
select new.*
from new
{% if is_incremental() %}
left join {{ this }} as old on new.p_partkey = old.p_partkey
where old.seq is null or new.seq > old.seq
{% endif %}
