{% for table in ('orders', 'lineitem', 'customer', 'part') %}
select '{{ table }}' as source, _file, _line, _rejected_reason from {{ ref('raw_' ~ table) }} where _rejected_reason is not null
{{ 'union all' if not loop.last }}
{% endfor %}
