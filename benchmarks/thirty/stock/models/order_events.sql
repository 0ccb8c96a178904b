{{ config(
    materialized='incremental',
    incremental_strategy='microbatch',
    event_time='delivered_at',
    batch_size='day',
    begin='2026-01-01',
    partition_by='delivered_on',
) }}
select distinct o_orderkey, seq, op, o_totalprice, delivered_at, cast(delivered_at as date) as delivered_on
from {{ ref('stg_orders') }}
