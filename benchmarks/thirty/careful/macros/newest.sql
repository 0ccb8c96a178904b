{# Of each key the newest event of the night that is good, unless the table has a newer one already. #}
{% macro newest(table, keys, good) -%}
with new as (
    select * except (place)
    from (
        select *, row_number() over (partition by {{ keys | join(', ') }} order by seq desc) as place
        from {{ landed(table) }}
        where
            {{ good }}
            {% if is_incremental() %}
            and delivered_at > (select max(delivered_at) from {{ this }})
            {% endif %}
    )
    where place = 1
)
select new.*
from new
{% if is_incremental() %}
left join {{ this }} as old on {% for key in keys %}{{ 'and ' if not loop.first }}new.{{ key }} = old.{{ key }} {% endfor %}

where old.seq is null or new.seq > old.seq
{% endif %}
{%- endmacro %}
