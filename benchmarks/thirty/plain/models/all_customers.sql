{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='c_custkey',
    on_schema_change='append_new_columns',
) }}
select * except (place)
from (
    select *, row_number() over (partition by c_custkey order by changed_at desc) as place
    from {{ landed('customer') }}
    {% if is_incremental() %}
    where delivered_at > (select max(delivered_at) from {{ this }})
    {% endif %}
)
where place = 1
