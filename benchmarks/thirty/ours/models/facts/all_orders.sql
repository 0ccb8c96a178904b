-- Deleted orders stay, so that an older change that comes late does not bring them back.
{{ config(
    unique_key='o_orderkey',
    duplicate_keys='latest',
    duplicate_keys_order_by='seq desc',
    matched_condition='DBT_INTERNAL_SOURCE.seq > DBT_INTERNAL_DEST.seq',
    expectations=[{'name': 'price', 'expression': 'o_totalprice >= 0', 'action': 'quarantine'}],
) }}
select
    o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority,
    o_comment, op, seq, changed_at
from {{ dbt_delta.new_rows(ref('raw_orders')) }}
where _rejected_reason is null
