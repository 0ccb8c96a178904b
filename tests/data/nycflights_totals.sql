-- The whole year has well-known totals; they hold once the last delivery of it has landed.
with landed as (

    select max(delivered_on) >= to_date('2014-01-01') as is_complete
    from {{ ref('flights') }}

),

actual as (

    select
        count(*) as flights,
        count_if(status = 'not departed') as not_departed,
        count_if(status = 'not arrived') as not_arrived,
        count(distinct tail_number) as aircraft,
        sum(departure_delay_minutes) as departure_delay_minutes,
        sum(arrival_delay_minutes) as arrival_delay_minutes,
        sum(distance_miles) as distance_miles
    from {{ ref('flights') }}

)

select actual.*
from actual
cross join landed
where
    landed.is_complete
    and struct(actual.*) != struct(
        336776L, 8255L, 1175L, 4043L, 4152200L, 2257174L, 350217607L
    )
