{{ config(unique_key=['flight_date', 'carrier_code']) }}

with flights as (

    select * from {{ ref('flights') }}

),

airlines as (

    select * from {{ ref('stg_nycflights__airlines') }}

),

holidays as (

    select * from {{ ref('us_federal_holidays') }}

),

daily as (

    select
        flight_date,
        carrier_code,
        cast(count(*) as int) as flights,
        cast(count_if(status = 'arrived') as int) as arrived_flights,
        cast(count_if(status = 'not departed') as int) as not_departed_flights,
        cast(count_if(arrival_delay_minutes > 15) as int) as late_flights,
        cast(avg(arrival_delay_minutes) as decimal(9, 2)) as average_arrival_delay_minutes
    from flights
    group by flight_date, carrier_code

),

final as (

    select
        daily.flight_date,
        daily.carrier_code,
        airlines.carrier_name,
        daily.flights,
        daily.arrived_flights,
        daily.not_departed_flights,
        daily.late_flights,
        daily.average_arrival_delay_minutes,
        holidays.holiday_name
    from daily
    left join airlines
        on daily.carrier_code = airlines.carrier_code
    left join holidays
        on daily.flight_date = holidays.holiday_date

)

select * from final
