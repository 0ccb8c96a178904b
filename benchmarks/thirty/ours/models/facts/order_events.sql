{{ config(
    incremental_strategy='microbatch',
    event_time='delivered_at',
    batch_size='day',
    begin='2026-01-01',
    lookback=1,
    lookback_from='inputs',
) }}
select distinct o_orderkey, seq, op, o_totalprice, delivered_at from {{ ref('stg_orders') }}
