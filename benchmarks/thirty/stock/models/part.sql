{{ config(materialized='view') }}
select * except (op, delivered_at) from {{ ref('all_parts') }} where op = 'U'
