{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='p_partkey',
) }}
select * except (place)
from (
    select *, row_number() over (partition by p_partkey order by changed_at desc) as place
    from {{ landed('part') }}
    {% if is_incremental() %}
    where delivered_at > (select max(delivered_at) from {{ this }})
    {% endif %}
)
where place = 1
