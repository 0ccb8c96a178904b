with raw as (

    {{ dbt_delta.latest_dump(ref('raw_nycflights__airports')) }}

),

final as (

    select
        faa as airport_code,
        name as airport_name,
        lat as latitude,
        lon as longitude,
        alt as altitude_feet,
        tzone as time_zone
    from raw

)

select * from final
