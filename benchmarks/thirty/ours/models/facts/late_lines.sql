{{ config(
    materialized='stream',
    unique_key=['l_orderkey', 'l_linenumber', 'seq'],
    duplicate_keys='latest',
    duplicate_keys_order_by='delivered_at',
    merge_skip_unchanged=true,
) }}
select l_orderkey, l_linenumber, seq, l_commitdate, l_receiptdate, delivered_at
from {{ dbt_delta.stream(ref('raw_lineitem')) }}
where op = 'U' and l_receiptdate > l_commitdate
