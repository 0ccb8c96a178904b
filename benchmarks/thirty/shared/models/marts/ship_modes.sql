{{ config(unique_key=['l_shipmode', 'month']) }}
select
    l_shipmode, cast(trunc(l_shipdate, 'month') as date) as month, count(*) as lines,
    sum(l_extendedprice * (1 - l_discount)) as revenue
from {{ ref('lineitem') }}
group by l_shipmode, month
