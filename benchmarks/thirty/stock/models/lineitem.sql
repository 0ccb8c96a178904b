{{ config(materialized='view') }}
select * except (op, delivered_at) from {{ ref('all_lines') }} where op = 'U'
