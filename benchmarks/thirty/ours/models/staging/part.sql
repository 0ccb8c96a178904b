select * except (op) from {{ ref('all_parts') }} where op = 'U'
