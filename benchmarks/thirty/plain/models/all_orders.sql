{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='o_orderkey',
) }}
select * except (place)
from (
    select *, row_number() over (partition by o_orderkey order by changed_at desc) as place
    from {{ landed('orders') }}
    {% if is_incremental() %}
    where delivered_at > (select max(delivered_at) from {{ this }})
    {% endif %}
)
where place = 1
