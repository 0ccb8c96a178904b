{#
    A column of one type as the type in which it is compared. A renamed column has its `former` name before; a column
    that did not exist has no type.
#}
{% macro _as_compared(column, type, name=none) -%}
    {%- set name = dbt_delta._quoted(name or column.name) -%}
    {%- if type is none -%}{{- return('cast(null as ' ~ column.type ~ ')') -}}{%- endif -%}
    {%- if type == column.type -%}{{- return(name) -}}{%- endif -%}
    {%- if column.type == 'string' and (dbt_delta._type_kind(type) != 'atomic' or type == 'variant') -%}
        {{- return('to_json(' ~ dbt_delta._comparable(name, type) ~ ')') -}}
    {%- endif -%}
    {{- return(
        'cast(' ~ name ~ ' as ' ~ column.type ~ ')' if dbt_delta._type_kind(column.type) == 'atomic'
        else dbt_delta._conformed(name, type, column.type)
    ) -}}
{%- endmacro %}

{# All rows that may differ: __dbt_c1 .. are the columns; __dbt_n is 1 for a row after, -1 for a row before. #}
{% macro _signed_rows_sql(comparison) -%}
{%- set rows = comparison.rows -%}
{%- if rows.kind == 'feed' -%}
{%- set columns = [] -%}
{%- for column in comparison.columns -%}
    {%- do columns.append(dbt_delta._quoted(column.name) ~ ' as __dbt_c' ~ loop.index) -%}
{%- endfor -%}
select
    {{ columns | join(', ') }},
    if(_change_type in ('insert', 'update_postimage'), {{ '-1, 1' if rows.backwards else '1, -1' }}) as __dbt_n
from ({{ rows.text }}) as feed
{#- All that follows groups by key and reads nearly all rows. -#}
{%- if comparison['keys'] %}
distribute by {{ dbt_delta._key_groups(comparison) | join(', ') }}
{%- endif -%}
{%- else -%}
{%- for side, sign in (('after', 1), ('before', -1)) -%}
{%- set columns = [] -%}
{%- for column in comparison.columns -%}
    {%- do columns.append(
        dbt_delta._as_compared(column, column[side], column.get('former') if side == 'before' else none) ~ ' as __dbt_c' ~ loop.index
    ) -%}
{%- endfor -%}
select
    {{ columns | join(', ') }},
    {{ sign }} as __dbt_n
from {{ comparison[side] }}
{%- if rows.kind == 'files' %}
where _metadata.file_name in ({{ rows.text }})
{%- elif rows.kind == 'none' %}
where false
{%- endif %}
{{ 'union all\n' if not loop.last }}
{%- endfor -%}
{%- endif -%}
{%- endmacro %}

{#
    One row per difference. First, equal rows of both sides cancel out, as often as both sides have them; NULL equals
    NULL, NaN equals NaN and 0.0 equals -0.0. The rest is paired by key, in a fixed order if a key has several rows;
    without a key nothing is paired.
#}
{% macro _diff_sql(comparison) -%}
{%- set columns, groups, values, fields = [], [], [], [] -%}
{%- for column in comparison.columns -%}
    {%- set own = '__dbt_c' ~ loop.index -%}
    {%- set comparable = dbt_delta._comparable(own, column.type) -%}
    {%- do columns.append(own) -%}
    {%- do groups.append(comparable) -%}
    {%- do values.append(own if comparable == own else 'any_value(' ~ own ~ ') as ' ~ own) -%}
    {%- do fields.append(dbt_delta._literal(column.name) ~ ', ' ~ own) -%}
{%- endfor -%}
with left_over as (
    select {{ values | join(', ') }}, sum(__dbt_n) as __dbt_n
    from (
{{ dbt_delta._signed_rows_sql(comparison) }}
    ) as signed
    group by {{ groups | join(', ') }}
    having sum(__dbt_n) <> 0
),

each_row as (
    select
        {{ columns | join(', ') }},
        __dbt_n > 0 as __dbt_is_after,
        named_struct({{ fields | join(', ') }}) as __dbt_row,
        explode(sequence(1, abs(__dbt_n))) as __dbt_copy
    from left_over
)
{% if comparison['keys'] -%}
{{ dbt_delta._pairs_sql(comparison, groups) }}
{%- else -%}
select
    if(__dbt_is_after, 'added', 'removed') as _diff,
    cast(null as array<string>) as _changed_columns,
    if(__dbt_is_after, null, __dbt_row) as _before,
    if(__dbt_is_after, __dbt_row, null) as _after
from each_row
{%- endif -%}
{%- endmacro %}

{# The rest, paired by key: the end of _diff_sql. #}
{% macro _pairs_sql(comparison, groups) -%}
{%- set key_groups = dbt_delta._key_groups(comparison) -%}
{%- set names, changes = [], [] -%}
{%- for column in comparison['keys'] -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {%- do names.append('coalesce(_after.' ~ name ~ ', _before.' ~ name ~ ') as ' ~ name) -%}
{%- endfor -%}
{%- for column in comparison.columns if column not in comparison['keys'] -%}
    {%- do changes.append(
        'if(' ~ dbt_delta._is_same(column) ~ ', null, ' ~ dbt_delta._literal(column.name) ~ ')'
    ) -%}
{%- endfor -%}
, numbered as (
    select
        *,
        row_number() over (
            partition by {{ (key_groups + ['__dbt_is_after']) | join(', ') }}
            order by {{ groups | join(', ') }}, __dbt_copy
        ) as __dbt_number
    from each_row
),

pairs as (
    select
        any_value(if(__dbt_is_after, null, __dbt_row), true) as _before,
        any_value(if(__dbt_is_after, __dbt_row, null), true) as _after
    from numbered
    group by {{ (key_groups + ['__dbt_number']) | join(', ') }}
),

differences as (
    select
        case when _before is null then 'added' when _after is null then 'removed' else 'changed' end as _diff,
        {{ names | join(', ') }},
        if(
            _before is null or _after is null, null, array_compact(array({{ changes | join(', ') or "''" }}))
        ) as _changed_columns,
        _before,
        _after
    from pairs
)

select * from differences where _diff <> 'changed' or size(_changed_columns) > 0
{%- endmacro %}

{# The expressions that are equal for rows of one key. #}
{% macro _key_groups(comparison) -%}
    {%- set groups = [] -%}
    {%- for column in comparison.columns -%}
        {%- if column in comparison['keys'] -%}
            {%- do groups.append(dbt_delta._comparable('__dbt_c' ~ loop.index, column.type)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(groups) -}}
{%- endmacro %}

{# Whether a column is equal on both sides of a pair, or within its tolerance. #}
{% macro _is_same(column) -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {%- set same = dbt_delta._comparable('_before.' ~ name, column.type) ~ ' <=> '
        ~ dbt_delta._comparable('_after.' ~ name, column.type) -%}
    {%- if not column.tolerance -%}{{- return(same) -}}{%- endif -%}
    {%- if column.type not in ('tinyint', 'smallint', 'int', 'bigint', 'float', 'double')
        and not column.type.startswith('decimal') -%}
        {%- do dbt_delta._refuse(
            "tolerance names '" ~ column.name ~ "', which is a " ~ column.type ~ '. Use it only for numbers.'
        ) -%}
    {%- endif -%}
    {%- set type = 'double' if column.type in ('float', 'double') else column.type
        if column.type.startswith('decimal') else 'decimal(20,0)' -%}
    {%- set before = 'cast(_before.' ~ name ~ ' as ' ~ type ~ ')' -%}
    {%- set after = 'cast(_after.' ~ name ~ ' as ' ~ type ~ ')' -%}
    {%- set distance = 'abs(try_subtract(' ~ after ~ ', ' ~ before ~ '))' -%}
    {%- set near = [] -%}
    {%- for kind, number in column.tolerance.items() -%}
        {%- do near.append(
            distance ~ ' <= ' ~ number if kind == 'absolute'
            else distance ~ ' <= ' ~ number ~ ' * greatest(abs(' ~ before ~ '), abs(' ~ after ~ '))'
                ~ (" and " ~ distance ~ " < double('infinity')" if type == 'double' else '')
        ) -%}
    {%- endfor -%}
    {{- return('(' ~ same ~ ' or coalesce(' ~ near | join(' or ') ~ ', false))') -}}
{%- endmacro %}

{% macro _diff_counts_sql(cache) -%}
select _diff as kind, cast(null as string) as column, count(*) as count
from {{ cache }}
group by _diff
union all
select 'changed' as kind, column, count(*) as count
from {{ cache }} lateral view explode(_changed_columns) as column
group by column
order by column nulls first, kind
{%- endmacro %}

{# The first rows of each kind, ordered by content; masked values are stars. #}
{% macro _diff_samples_sql(cache, comparison, masked, limit) -%}
{%- set shown = {'_before': [], '_after': []} -%}
{%- set orders = [] -%}
{%- for column in comparison.columns -%}
    {%- for side, fields in shown.items() -%}
        {%- do fields.append({'name': column.name, 'value': side ~ '.' ~ dbt_delta._quoted(column.name)}) -%}
    {%- endfor -%}
{%- endfor -%}
{%- for column in comparison['keys'] or comparison.columns -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {%- for side in ('_after', '_before') -%}
        {%- do orders.append(dbt_delta._comparable(side ~ '.' ~ name, column.type)) -%}
    {%- endfor -%}
{%- endfor -%}
select
    _diff as kind,
    array_join(_changed_columns, '\n') as columns,
    {%- for side, fields in shown.items() %}
    if({{ side }} is null, null, {{ dbt_delta._shown_json(fields, masked) }}) as {{ side[1:] }},
    {%- endfor %}
    place
from (
    select *, row_number() over (partition by _diff order by {{ orders | join(', ') }}) as place
    from {{ cache }}
) as placed
where place <= {{ limit }}
order by kind, place
{%- endmacro %}
