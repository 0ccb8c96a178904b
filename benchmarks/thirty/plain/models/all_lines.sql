{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key=['l_orderkey', 'l_linenumber'],
) }}
select * except (place)
from (
    select *, row_number() over (partition by l_orderkey, l_linenumber order by changed_at desc) as place
    from {{ landed('lineitem') }}
    {% if is_incremental() %}
    where delivered_at > (select max(delivered_at) from {{ this }})
    {% endif %}
)
where place = 1
