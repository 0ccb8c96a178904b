{{ config(materialized='table') }}
select distinct l_orderkey, l_linenumber, seq
from (
    select *, max(delivered_at) over (partition by l_orderkey, l_linenumber) as newest from {{ landed('lineitem') }}
)
where newest = delivered_at and not (l_quantity > 0)
