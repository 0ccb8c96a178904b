{{ config(unique_key='o_orderdate') }}
select o_orderdate, count(*) as orders, sum(o_totalprice) as price
from {{ ref('orders') }}
group by o_orderdate
