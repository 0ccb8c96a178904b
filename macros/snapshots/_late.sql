{#
    Changes that are older than the row that is open: each ends the row in which it falls, and holds
    until that row's end, or until the next row where none was valid.
#}
{% macro _late_operations(table, batch, settings) -%}
{%- set keys = dbt_delta._key_names(batch['keys'], 'late') | join(', ') -%}
{%- set bounds = dbt_delta._unaliased_bounds(batch) -%}
{%- set own = dbt_delta._own_time(batch, 'late') -%}
places as (
    select
        {{ keys }},
        count_if(known.__dbt_from = {{ own }}) > 0 as __dbt_is_there,
        max(struct(known.__dbt_from, known.__dbt_to, known.__dbt_id))
            filter (where known.__dbt_from < {{ own }} and known.__dbt_to > {{ own }}) as within,
        min(known.__dbt_from) filter (where known.__dbt_from > {{ own }}) as next_from
    from {{ batch.from }} as late
    inner join (
        select
            {{ dbt_delta._key_columns(batch['keys']) }},
            {{ dbt_delta._quoted(settings.from) }} as __dbt_from,
            {{ dbt_delta._quoted(settings.to) }} as __dbt_to,
            {{ dbt_delta._quoted(settings.id) }} as __dbt_id
        from {{ table.name }}
        {%- if bounds %}
        where {{ bounds | join(' and ') }}
        {%- endif %}
    ) as known
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'known', 'late') }}
    where late.__dbt_is_late
    group by {{ keys }}
),

late_operations as (
    select
        __dbt_operation,
        {{ keys }},
        if(__dbt_operation = 'update', places.within.__dbt_id, late.__dbt_found_id) as __dbt_found_id,
        {{ own }} as __dbt_at,
        if(__dbt_operation = 'update', {{ own }}, coalesce(places.within.__dbt_to, places.next_from)) as __dbt_to,
        {{ dbt_delta._scd_id(batch, [{'text': own, 'type': batch.time}], alias='late') }} as __dbt_id,
        {{ dbt_delta._as_time('late.__dbt_updated_at', batch.updated.type, batch.updated_type) }} as __dbt_updated,
        false as __dbt_deleted,
        {{ dbt_delta._held(batch, 'late') | join(', ') }}
    from {{ batch.from }} as late
    inner join places
        on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'places', 'late') }}
    lateral view explode(array('update', 'insert')) as __dbt_operation
    where late.__dbt_is_late and not places.__dbt_is_there
        and (__dbt_operation = 'insert' or places.within is not null)
)
{%- endmacro %}
