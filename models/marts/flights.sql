{{ config(
    unique_key='flight_id',
    event_time='scheduled_hour',
) }}

with delivered as (

    select * from {{ ref('stg_nycflights__flights') }}
    {% if is_incremental() %}
    -- All deliveries of the flights that a delivery not merged yet is about.
    where
        flight_id in (
            select unseen.flight_id
            from {{ ref('stg_nycflights__flights') }} as unseen
            where unseen.delivery_id not in (select merged.delivery_id from {{ this }} as merged)
        )
    {% endif %}

),

-- Of several deliveries of one flight the latest counts, whatever order they are loaded in.
latest as (

    select *
    from (
        select
            *,
            row_number() over (
                partition by flight_id
                order by delivered_on desc, load_id desc, line_number desc
            ) as recency
        from delivered
    ) as ranked
    where recency = 1

),

final as (

    select
        latest.flight_id,
        latest.flight_date,
        latest.scheduled_hour,
        latest.carrier_code,
        latest.flight_number,
        latest.tail_number,
        latest.origin_code,
        latest.destination_code,
        case
            when latest.departure_hhmm is null then 'not departed'
            when latest.air_minutes is null then 'not arrived'
            else 'arrived'
        end as status,
        latest.departure_delay_minutes,
        latest.arrival_delay_minutes,
        latest.air_minutes,
        latest.distance_miles,
        latest.delivered_on,
        latest.delivery_id
    from latest
    {% if is_incremental() %}
    left join {{ this }} as existing
        on latest.flight_id = existing.flight_id
    where
        existing.flight_id is null
        or latest.delivery_id != existing.delivery_id
    {% endif %}

)

select * from final
