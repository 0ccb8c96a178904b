{{ config(
    unique_key='p_partkey',
    duplicate_keys='latest',
    duplicate_keys_order_by='seq desc',
    matched_condition='DBT_INTERNAL_SOURCE.seq > DBT_INTERNAL_DEST.seq',
) }}
select
    p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment, op, seq, changed_at
from {{ dbt_delta.new_rows(ref('raw_part')) }}
where _rejected_reason is null
