-- Each aggregate covers every flight exactly once.
with expected as (

    select count(*) as flights from {{ ref('flights') }}

),

counted as (

    select
        'daily_carriers' as mart,
        sum(flights) as flights
    from {{ ref('daily_carriers') }}
    union all
    select
        'hourly_airports' as mart,
        sum(flights) as flights
    from {{ ref('hourly_airports') }}
    union all
    select
        'routes' as mart,
        sum(flights) as flights
    from {{ ref('routes') }}

)

select
    counted.mart,
    counted.flights,
    expected.flights as expected_flights
from counted
cross join expected
where counted.flights is distinct from expected.flights
