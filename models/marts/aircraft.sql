{{ config(unique_key='aircraft_version_id') }}

with history as (

    select * from {{ ref('aircraft_history') }}

),

planes as (

    select * from {{ ref('stg_nycflights__planes') }}

),

final as (

    select
        history.dbt_scd_id as aircraft_version_id,
        history.tail_number,
        history.carrier_code,
        history.last_origin_code,
        history.last_destination_code,
        planes.manufacturer,
        planes.model,
        planes.manufactured_year,
        planes.seat_count,
        history.dbt_valid_from as valid_from,
        history.dbt_valid_to as valid_to,
        history.dbt_valid_to is null as is_current
    from history
    left join planes
        on history.tail_number = planes.tail_number

)

select * from final
