{{ config(unique_key='l_partkey') }}
select l_partkey, sum(l_quantity) as quantity, sum(l_extendedprice * (1 - l_discount)) as revenue
from {{ ref('lineitem') }}
group by l_partkey
