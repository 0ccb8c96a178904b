-- Every line and file that a landing folder delivered and no table took, with the reason.
{% for table in ['flights', 'weather', 'planes', 'airports', 'airlines'] -%}
select
    '{{ table }}' as table_name,
    {{ dbt_delta.landed_file_column() }} as file_name,
    _line as line_number,
    _rejected_reason as reason,
    _rejected_line as line,
    _load_id as load_id
from {{ ref('raw_nycflights__' ~ table) }}
where _rejected_reason is not null
{{ 'union all' if not loop.last }}
{% endfor %}
