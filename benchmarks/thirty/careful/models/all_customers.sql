{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='c_custkey',
    on_schema_change='append_new_columns',
) }}
-- Of each key the newest event of the night, unless the table has a newer one already.
with new as (
    select * except (place)
    from (
        select *, row_number() over (partition by c_custkey order by seq desc) as place
        from {{ landed('customer') }}
        where
            c_custkey is not null
            {% if is_incremental() %}
            and delivered_at > (select max(delivered_at) from {{ this }})
            {% endif %}
    )
    where place = 1
)
select new.*
from new
{% if is_incremental() %}
left join {{ this }} as old on new.c_custkey = old.c_custkey
where old.seq is null or new.seq > old.seq
{% endif %}
