{{ config(
    materialized='incremental', incremental_strategy='merge', unique_key=['l_orderkey', 'l_linenumber', 'seq']
) }}
select l_orderkey, l_linenumber, seq, l_commitdate, l_receiptdate, max(delivered_at) as delivered_at
from {{ landed('lineitem') }}
where
    op = 'U' and l_receiptdate > l_commitdate
    {% if is_incremental() %}
    and delivered_at > (select max(delivered_at) from {{ this }})
    {% endif %}
group by l_orderkey, l_linenumber, seq, l_commitdate, l_receiptdate
