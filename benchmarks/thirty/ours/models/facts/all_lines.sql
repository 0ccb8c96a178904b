{{ config(
    unique_key=['l_orderkey', 'l_linenumber'],
    duplicate_keys='latest',
    duplicate_keys_order_by='seq desc',
    matched_condition='DBT_INTERNAL_SOURCE.seq > DBT_INTERNAL_DEST.seq',
    expectations=[
        {'name': 'quantity', 'expression': 'l_quantity > 0', 'action': 'quarantine'},
        {'name': 'discount', 'expression': 'l_discount <= 1', 'action': 'drop'},
    ],
) }}
select
    l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag,
    l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment, op, seq, changed_at,
    _load_id
from {{ ref('raw_lineitem') }}
where _rejected_reason is null
{% if is_incremental() %}
    and _load_id > (select max(_load_id) from {{ this }})
{% endif %}
