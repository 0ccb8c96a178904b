-- Lines in the landing folders = rows taken + lines kept aside, for every file that was loaded, but
-- for those that an erasure wrote anew.
with landed as (

    {% for table in ['flights', 'weather', 'planes', 'airports', 'airlines'] -%}
    {% set folder = 'nycflights/' ~ table -%}
    select
        '{{ table }}' as table_name,
        substring_index(_metadata.file_path, '/{{ folder }}/', -1) as _file,
        _metadata.file_modification_time as _file_modified_at,
        _metadata.file_size as _file_size,
        count_if(trim(value) != '') - 1 as landed_lines
    from text.`{{ dbt_delta.landing_dir() }}/{{ folder }}`
    group by all
    {{ 'union all' if not loop.last }}
    {% endfor %}

),

loaded as (

    {% for table in ['flights', 'weather', 'planes', 'airports', 'airlines'] -%}
    select
        '{{ table }}' as table_name,
        {{ dbt_delta.landed_file_column() }} as _file,
        _file_modified_at,
        _file_size,
        count_if(_line > 0) as loaded_lines,
        count_if(_line = 0 or startswith(_rejected_reason, 'erased')) as refusals
    from {{ ref('raw_nycflights__' ~ table) }}
    group by all
    {{ 'union all' if not loop.last }}
    {% endfor %}

)

select
    landed.table_name,
    landed._file,
    landed.landed_lines,
    loaded.loaded_lines
from landed
left join loaded
    on
        landed.table_name = loaded.table_name
        and landed._file = loaded._file
        and landed._file_modified_at = loaded._file_modified_at
        and landed._file_size = loaded._file_size
where
    coalesce(loaded.refusals, 0) = 0
    and landed.landed_lines is distinct from loaded.loaded_lines
