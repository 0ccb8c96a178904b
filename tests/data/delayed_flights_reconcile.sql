-- What follows the changes of flights has all that are three hours late, as they are now.
{% set columns = 'flight_id, departure_delay_minutes, arrival_delay_minutes' %}
with expected as (

    select {{ columns }} from {{ ref('flights') }}
    where coalesce(arrival_delay_minutes, departure_delay_minutes) >= 180

)

(
    select {{ columns }} from {{ ref('delayed_flights') }}
    except all
    select {{ columns }} from expected
)
union all
(
    select {{ columns }} from expected
    except all
    select {{ columns }} from {{ ref('delayed_flights') }}
)
