{{ config(incremental_strategy='changes', unique_key='flight_id') }}

with changed as (

    select * from {{ dbt_delta.new_changes(ref('flights'), unique_key='flight_id') }}

),

final as (

    select
        flight_id,
        flight_date,
        carrier_code,
        origin_code,
        destination_code,
        departure_delay_minutes,
        arrival_delay_minutes,
        -- A flight that a correction takes below the limit leaves the table.
        case
            when coalesce(arrival_delay_minutes, departure_delay_minutes) >= 180 then _change_type
            else 'delete'
        end as _change_type
    from changed

)

select * from final
