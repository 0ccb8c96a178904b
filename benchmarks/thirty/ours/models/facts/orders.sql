{{ config(incremental_strategy='changes', unique_key='o_orderkey') }}
select * except (op, _change_type), if(op = 'D', 'delete', _change_type) as _change_type
from {{ dbt_delta.new_changes(ref('all_orders'), unique_key='o_orderkey') }}
