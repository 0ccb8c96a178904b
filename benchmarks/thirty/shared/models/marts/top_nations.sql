{{ config(materialized='table') }}
select n_name, n_regionkey, sum(revenue) as revenue
from {{ ref('nation_revenue') }}
inner join {{ ref('nation') }} on n_nationkey = c_nationkey
group by n_name, n_regionkey
