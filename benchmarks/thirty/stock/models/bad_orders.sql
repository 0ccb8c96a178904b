{{ config(materialized='table') }}
select distinct o_orderkey, seq
from (
    select *, max(delivered_at) over (partition by o_orderkey) as newest from {{ landed('orders') }}
)
where newest = delivered_at and not (o_totalprice >= 0)
