-- The routes with the longest mean arrival delay, among those flown at least a hundred times.
select
    concat(origin_code, ' - ', destination_code) as route,
    destination_name as destination,
    flights,
    average_arrival_delay_minutes as average_delay,
    p90_arrival_delay_minutes as p90_delay,
    on_time_percent
from {{ ref('routes') }}
where arrived_flights >= 100
order by average_delay desc, route asc
