{{ config(materialized='table') }}
select o_orderstatus, o_orderpriority, count(*) as orders
from {{ ref('orders') }}
group by o_orderstatus, o_orderpriority
