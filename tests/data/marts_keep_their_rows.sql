-- Of yesterday's marts nothing is gone today: flights and days of carriers change, and come.
{% set marts = {'flights': 'flight_id', 'daily_carriers': ['flight_date', 'carrier_code']} -%}
{% for mart, key in marts.items() -%}
select
    '{{ mart }}' as mart,
    to_json(_before) as lost
from ({{ dbt_delta.get_diff_versions_sql(ref(mart), 'previous', unique_key=key) }}) as differences
where _diff = 'removed'
{{ 'union all' if not loop.last }}
{% endfor %}
