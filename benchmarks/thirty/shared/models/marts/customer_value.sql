{{ config(unique_key='o_custkey') }}
select o_custkey, count(*) as orders, sum(o_totalprice) as price, max(o_orderdate) as last_order
from {{ ref('orders') }}
group by o_custkey
