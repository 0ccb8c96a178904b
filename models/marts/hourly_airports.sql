{{ config(
    incremental_strategy='microbatch',
    event_time='scheduled_hour',
    begin='2013-01-01',
    batch_size='year',
    lookback_from='inputs',
    partition_by='scheduled_year',
) }}

with flights as (

    select * from {{ ref('flights') }}

),

weather as (

    select * from {{ ref('stg_nycflights__weather') }}

),

departures as (

    select
        origin_code as airport_code,
        scheduled_hour,
        cast(count(*) as int) as flights,
        cast(count_if(status = 'not departed') as int) as not_departed_flights,
        cast(avg(departure_delay_minutes) as decimal(9, 2)) as average_departure_delay_minutes
    from flights
    group by origin_code, scheduled_hour

),

final as (

    select
        departures.airport_code,
        departures.scheduled_hour,
        departures.flights,
        departures.not_departed_flights,
        departures.average_departure_delay_minutes,
        weather.temperature_fahrenheit,
        weather.wind_speed_mph,
        weather.precipitation_inches,
        weather.visibility_miles,
        year(departures.scheduled_hour) as scheduled_year
    from departures
    left join weather
        on
            departures.airport_code = weather.airport_code
            and departures.scheduled_hour = weather.observed_hour

)

select * from final
