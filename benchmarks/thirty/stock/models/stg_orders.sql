{{ config(materialized='view', event_time='delivered_at') }}
select * from {{ landed('orders') }}
