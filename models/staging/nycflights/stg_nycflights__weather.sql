with raw as (

    select
        *,
        struct(_load_id, {{ dbt_delta.landed_file_column() }}, _line) as delivery
    from {{ ref('raw_nycflights__weather') }}
    where _rejected_reason is null

),

final as (

    -- One row per airport and hour: of an hour delivered twice the later one counts.
    select
        origin as airport_code,
        time_hour as observed_hour,
        max_by(temp, delivery) as temperature_fahrenheit,
        max_by(wind_speed, delivery) as wind_speed_mph,
        max_by(precip, delivery) as precipitation_inches,
        max_by(visib, delivery) as visibility_miles
    from raw
    group by origin, time_hour

)

select * from final
