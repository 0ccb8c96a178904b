{{ config(
    materialized='stream',
    unique_key=['airport_code', 'observed_hour'],
    duplicate_keys='latest',
    duplicate_keys_order_by='delivery desc',
    merge_control_columns=['delivery'],
) }}

with observed as (

    select * from {{ dbt_delta.stream(ref('raw_nycflights__weather')) }}

),

final as (

    select
        origin as airport_code,
        time_hour as observed_hour,
        temp as temperature_fahrenheit,
        wind_speed as wind_speed_mph,
        wind_gust as wind_gust_mph,
        precip as precipitation_inches,
        visib as visibility_miles,
        struct(_load_id, {{ dbt_delta.landed_file_column() }}, _line) as delivery
    from observed
    where _rejected_reason is null

)

select * from final
