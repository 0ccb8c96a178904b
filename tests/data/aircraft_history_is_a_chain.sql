-- Each version of an aircraft ends when the next begins, and only the last one is open.
with versions as (

    select
        tail_number,
        dbt_valid_from,
        dbt_valid_to,
        lead(dbt_valid_from) over (
            partition by tail_number
            order by dbt_valid_from
        ) as next_valid_from
    from {{ ref('aircraft_history') }}

)

select *
from versions
where dbt_valid_to is distinct from next_valid_from
