-- Where each aircraft was last seen: the latest flight of it that has departed.
with flights as (

    select * from {{ ref('flights') }}
    where tail_number is not null and status != 'not departed'

),

final as (

    select
        tail_number,
        last_flight.scheduled_hour as last_seen_at,
        last_flight.carrier_code,
        last_flight.origin_code as last_origin_code,
        last_flight.destination_code as last_destination_code
    from (
        select
            tail_number,
            max_by(
                struct(scheduled_hour, carrier_code, origin_code, destination_code),
                struct(scheduled_hour, flight_id)
            ) as last_flight
        from flights
        group by tail_number
    ) as latest

)

select * from final
