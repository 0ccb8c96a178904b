with raw as (

    {{ dbt_delta.latest_dump(ref('raw_nycflights__airlines')) }}

),

final as (

    select
        carrier as carrier_code,
        name as carrier_name
    from raw

)

select * from final
