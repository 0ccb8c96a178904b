{{ config(incremental_strategy='changes', unique_key=['l_orderkey', 'l_linenumber']) }}
select * except (op, _load_id, _change_type), if(op = 'D', 'delete', _change_type) as _change_type
from {{ dbt_delta.new_changes(ref('all_lines'), unique_key=['l_orderkey', 'l_linenumber']) }}
