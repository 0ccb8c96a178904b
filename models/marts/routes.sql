{{ config(unique_key=['origin_code', 'destination_code']) }}

with flights as (

    select * from {{ ref('flights') }}

),

airports as (

    select * from {{ ref('stg_nycflights__airports') }}

),

punctuality as (

    select
        origin_code,
        destination_code,
        cast(count(*) as int) as flights,
        cast(count_if(status = 'arrived') as int) as arrived_flights,
        cast(count_if(status = 'not departed') as int) as not_departed_flights,
        cast(avg(arrival_delay_minutes) as decimal(9, 2)) as average_arrival_delay_minutes,
        cast(percentile(arrival_delay_minutes, 0.9) as decimal(9, 2)) as p90_arrival_delay_minutes,
        cast(
            100 * try_divide(count_if(arrival_delay_minutes <= 15), count(arrival_delay_minutes))
            as decimal(5, 2)
        ) as on_time_percent
    from flights
    group by origin_code, destination_code

),

final as (

    select
        punctuality.origin_code,
        punctuality.destination_code,
        -- Some destinations, San Juan among them, are not in the list of airports.
        coalesce(airports.airport_name, punctuality.destination_code) as destination_name,
        punctuality.flights,
        punctuality.arrived_flights,
        punctuality.not_departed_flights,
        punctuality.average_arrival_delay_minutes,
        punctuality.p90_arrival_delay_minutes,
        punctuality.on_time_percent
    from punctuality
    left join airports
        on punctuality.destination_code = airports.airport_code

)

select * from final
