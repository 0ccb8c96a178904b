-- Lines in the landing folders = rows taken + lines kept aside, for every file that was loaded.
{% for table in ['flights', 'weather', 'planes', 'airports', 'airlines'] -%}
{% set folder = 'nycflights/' ~ table -%}
select
    '{{ table }}' as table_name,
    landed._file,
    landed.lines as landed_lines,
    loaded.lines as loaded_lines
from (
    select
        {{ dbt_delta._file_columns(folder) }},
        count_if(trim(value) != '') - 1 as lines
    from text.{{ dbt_delta._quoted(dbt_delta.landing_dir() ~ '/' ~ folder) }}
    group by all
) as landed
left join (
    select
        _file,
        _file_modified_at,
        _file_size,
        count(*) as lines
    from {{ ref('raw_nycflights__' ~ table) }}
    where _line > 0
    group by all
) as loaded
    using (_file, _file_modified_at, _file_size)
left join (
    select
        _file,
        _file_modified_at,
        _file_size
    from {{ ref('raw_nycflights__' ~ table) }}
    where _line = 0
) as refused
    using (_file, _file_modified_at, _file_size)
where refused._file is null and landed.lines is distinct from loaded.lines
{{ 'union all' if not loop.last }}
{% endfor %}
