select * except (op, dbt_scd_id, dbt_updated_at, dbt_valid_from, dbt_valid_to)
from {{ ref('customer_history') }}
where dbt_valid_to is null and op = 'U'
