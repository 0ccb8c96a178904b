-- Every delivered row: a flight still in the air at midnight comes once more, complete, with the
-- next day's corrections. Nothing is dropped here; the marts keep the latest.
with raw as (

    select * from {{ ref('raw_nycflights__flights') }}
    where _rejected_reason is null

),

final as (

    select
        concat_ws(
            '-', make_date(year, month, day), carrier, flight, origin
        ) as flight_id,
        make_date(year, month, day) as flight_date,
        time_hour as scheduled_hour,
        carrier as carrier_code,
        flight as flight_number,
        tailnum as tail_number,
        origin as origin_code,
        dest as destination_code,
        sched_dep_time as scheduled_departure_hhmm,
        dep_time as departure_hhmm,
        dep_delay as departure_delay_minutes,
        sched_arr_time as scheduled_arrival_hhmm,
        arr_time as arrival_hhmm,
        arr_delay as arrival_delay_minutes,
        air_time as air_minutes,
        distance as distance_miles,
        to_date(left({{ dbt_delta.landed_file_column() }}, 10)) as delivered_on,
        _file_hash as delivery_id,
        _load_id as load_id,
        _line as line_number
    from raw

)

select * from final
