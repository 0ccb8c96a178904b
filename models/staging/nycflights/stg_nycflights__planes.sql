with raw as (

    {{ dbt_delta.latest_dump(ref('raw_nycflights__planes')) }}

),

final as (

    select
        tailnum as tail_number,
        year as manufactured_year,
        type as aircraft_type,
        manufacturer,
        model,
        engines as engine_count,
        seats as seat_count,
        engine as engine_type
    from raw

)

select * from final
