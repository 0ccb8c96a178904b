{{ config(materialized='view') }}
select * except (op, delivered_at) from {{ ref('all_customers') }} where op = 'U'
