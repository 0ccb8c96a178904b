{# Of each key the newest row of the night. #}
{% macro newest(table, keys) -%}
select * except (place)
from (
    select *, row_number() over (partition by {{ keys | join(', ') }} order by changed_at desc) as place
    from {{ landed(table) }}
    {% if is_incremental() %}
    where delivered_at > (select max(delivered_at) from {{ this }})
    {% endif %}
)
where place = 1
{%- endmacro %}
