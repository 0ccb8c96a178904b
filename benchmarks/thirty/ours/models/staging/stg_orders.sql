{{ config(event_time='delivered_at') }}
select * from {{ ref('raw_orders') }} where _rejected_reason is null
