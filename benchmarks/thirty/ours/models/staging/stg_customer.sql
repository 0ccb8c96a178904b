-- An event that is delivered again is the same event: when it came is no part of it.
select * except (
    delivered_at, _file, _line, _file_modified_at, _file_size, _file_hash, _load_id, _rejected_reason, _rejected_line
)
from {{ ref('raw_customer') }}
where _rejected_reason is null
