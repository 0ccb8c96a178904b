{{ config(unique_key=['c_nationkey', 'year']) }}
select c_nationkey, year(o_orderdate) as year, sum(l_extendedprice * (1 - l_discount)) as revenue
from {{ ref('lineitem') }}
inner join {{ ref('orders') }} on l_orderkey = o_orderkey
inner join {{ ref('customer') }} on o_custkey = c_custkey
group by c_nationkey, year
