-- The whole year has well-known totals, less the four flights that are too fast; they hold once
-- the last delivery of it has landed, and as long as no aircraft was erased.
with totals as (

    select
        max(delivered_on) as delivered_until,
        count(*) as flights,
        count_if(status = 'not departed') as not_departed,
        count_if(status = 'not arrived') as not_arrived,
        count(distinct tail_number) as aircraft,
        sum(departure_delay_minutes) as departure_delay_minutes,
        sum(arrival_delay_minutes) as arrival_delay_minutes,
        sum(distance_miles) as distance_miles,
        (select count(*) from {{ ref('stg_nycflights__weather') }}) as weather_hours,
        (select count(*) from {{ ref('stg_nycflights__planes') }}) as planes,
        (select count(*) from {{ ref('stg_nycflights__airports') }}) as airports,
        (select count(*) from {{ ref('stg_nycflights__airlines') }}) as airlines
    from {{ ref('flights') }}

)

select *
from totals
where
    delivered_until >= to_date('2014-01-01')
    and not exists (
        select 1
        from {{ ref('raw_nycflights__flights') }} as landed
        where landed._rejected_reason = 'erased'
    )
    and not (
        flights = 336772
        and not_departed = 8255
        and not_arrived = 1175
        and aircraft = 4043
        and departure_delay_minutes = 4152127
        and arrival_delay_minutes = 2257161
        and distance_miles = 350214495
        and weather_hours = 26115
        and planes = 3322
        and airports = 1458
        and airlines = 16
    )
