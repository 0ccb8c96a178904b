{#
    Two texts for FROM as they are compared: {before, after, columns, keys, schema, rows}. Columns are
    those that both have, by name, and are not excluded: {name, type, before, after, tolerance}, before and
    after being the types there; `schema` lists the changes of columns. `rows` says where rows that may
    differ are found: in all, in certain files, in a change feed, or nowhere.
#}
{% macro _comparison(before, after, unique_key, exclude_columns, tolerance, rows={'kind': 'all'}) -%}
    {%- set before_columns = dbt_delta._columns_of('select * from ' ~ before) -%}
    {%- set after_columns = dbt_delta._columns_of('select * from ' ~ after) -%}
    {%- set excluded = dbt_delta._names(exclude_columns) | map('lower') | list -%}
    {%- do dbt_delta._known_columns('exclude_columns', excluded, before_columns + after_columns) -%}
    {%- set columns, compared_before, compared_after = [], [], [] -%}
    {%- for column in before_columns if column.name | lower not in excluded -%}
        {%- do compared_before.append(column) -%}
    {%- endfor -%}
    {%- for column in after_columns if column.name | lower not in excluded -%}
        {%- do compared_after.append(column) -%}
        {%- set match = dbt_delta._column(before_columns, column.name) -%}
        {%- if match is not none -%}
            {%- do columns.append({
                'name': column.name, 'before': match.type, 'after': column.type,
                'type': dbt_delta._common_type(match.type, column.type),
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not columns -%}
        {%- do dbt_delta._refuse('No column to compare: ' ~ before ~ ' and ' ~ after ~ ' have none in common.') -%}
    {%- endif -%}
    {%- set keys = dbt_delta._names(unique_key) -%}
    {%- do dbt_delta._known_columns('unique_key', keys, columns) -%}
    {%- do dbt_delta._known_columns('tolerance', tolerance.keys() | list, columns) -%}
    {%- if tolerance and not keys -%}
        {%- do dbt_delta._refuse(
            'tolerance needs unique_key: without one it is not known which rows belong together.'
        ) -%}
    {%- endif -%}
    {%- for name, value in tolerance.items() -%}
        {%- do dbt_delta._column(columns, name).update({'tolerance': dbt_delta._tolerance(name, value)}) -%}
    {%- endfor -%}
    {%- set key_columns = [] -%}
    {%- for key in keys -%}{%- do key_columns.append(dbt_delta._column(columns, key)) -%}{%- endfor -%}
    {%- set usable = dbt_delta._has_columns(rows.text, columns) if rows.kind == 'feed'
        else rows.kind != 'files' or not dbt_delta._hides_files(before_columns + after_columns) -%}
    {{- return({
        'before': before, 'after': after, 'columns': columns, 'keys': key_columns,
        'schema': dbt_delta._column_changes(compared_after, compared_before),
        'rows': rows if usable else {'kind': 'all'},
    }) -}}
{%- endmacro %}

{# Whether a column takes the name by which Spark tells a row's file. #}
{% macro _hides_files(columns) -%}
    {{- return(dbt_delta._column(columns, '_metadata') is not none) -}}
{%- endmacro %}

{% macro _known_columns(argument, names, columns) -%}
    {%- for name in names if dbt_delta._column(columns, name) is none -%}
        {%- do dbt_delta._refuse(
            argument ~ " names '" ~ name ~ "', which is no column of both sides. Columns are "
            ~ columns | map(attribute='name') | unique | join(', ') ~ '.'
        ) -%}
    {%- endfor -%}
{%- endmacro %}

{# A change feed has the columns of the newest schema; it serves if they hold those of both sides. #}
{% macro _has_columns(text, columns) -%}
    {%- set found = dbt_delta._columns_of(text) -%}
    {%- for column in columns -%}
        {%- set match = dbt_delta._column(found, column.name) -%}
        {%- if match is none or match.type != column.type -%}{{- return(false) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}

{# A tolerance: 0.01, '1%', or {absolute: .., relative: ..}, as the latter. #}
{% macro _tolerance(name, value) -%}
    {%- set parts = value if value is mapping
        else {'relative': '(' ~ value.rstrip('% ') ~ ' / 100.0)'} if value is string and value.strip().endswith('%')
        else {'absolute': value} -%}
    {%- for kind, number in parts.items() -%}
        {%- if kind not in ('absolute', 'relative')
            or not modules.re.fullmatch('\\(?[0-9]*[.]?[0-9]+([eE][+-]?[0-9]+)?( / 100[.]0\\))?', number | string) -%}
            {%- do dbt_delta._refuse(
                "tolerance of '" ~ name ~ "' is " ~ value
                ~ ". Give a number, a share such as '1%', or {absolute: 0.01, relative: 0.001}."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(parts) -}}
{%- endmacro %}

{# A type that holds the values of both; text where there is none. #}
{% macro _common_type(one, other) -%}
    {%- if dbt_delta._fits(one, other) -%}{{- return(other) -}}{%- endif -%}
    {%- if dbt_delta._fits(other, one) -%}{{- return(one) -}}{%- endif -%}
    {%- set digits = {'tinyint': '3,0', 'smallint': '5,0', 'int': '10,0', 'bigint': '19,0'} -%}
    {%- set sizes = [] -%}
    {%- for type in (one, other) -%}
        {%- set size = modules.re.fullmatch('decimal\\((\\d+,\\d+)\\)', type) -%}
        {%- if size or type in digits -%}
            {%- set parts = (size.group(1) if size else digits[type]).split(',') | map('int') | list -%}
            {%- do sizes.append((parts[0] - parts[1], parts[1])) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if sizes | length == 2 -%}
        {%- set whole = sizes | map(attribute='0') | max -%}
        {%- set scale = sizes | map(attribute='1') | max -%}
        {%- if whole + scale <= 38 -%}{{- return('decimal(' ~ (whole + scale) ~ ',' ~ scale ~ ')') -}}{%- endif -%}
    {%- elif (sizes or one in ('float', 'double')) and (one in ('float', 'double') or other in ('float', 'double')) -%}
        {{- return('double') -}}
    {%- endif -%}
    {{- return('string') -}}
{%- endmacro %}

{#
    A column of one type as the type by which it is compared. One that was called otherwise has a `former`
    name before; of one that was not there, the type is none.
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

{# All rows that may differ: __dbt_c1 .. are the columns, __dbt_n is 1 of a row after, -1 of one before. #}
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
{#- All that follows is by key, and nearly all rows go through it. -#}
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
    One row per difference. Equal rows of both sides go first, as often as both have them; NULL equals
    NULL, NaN NaN and 0.0 -0.0. What is left is paired by key, in an order of its own where a key has
    several rows; without a key nothing is.
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
{%- set key_groups = dbt_delta._key_groups(comparison) -%}
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
{%- else -%}
select
    if(__dbt_is_after, 'added', 'removed') as _diff,
    cast(null as array<string>) as _changed_columns,
    if(__dbt_is_after, null, __dbt_row) as _before,
    if(__dbt_is_after, __dbt_row, null) as _after
from each_row
{%- endif -%}
{%- endmacro %}

{# What rows of one key have in common. #}
{% macro _key_groups(comparison) -%}
    {%- set groups = [] -%}
    {%- for column in comparison.columns -%}
        {%- if column in comparison['keys'] -%}
            {%- do groups.append(dbt_delta._comparable('__dbt_c' ~ loop.index, column.type)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(groups) -}}
{%- endmacro %}

{# Whether a column of a pair is the same on both sides, or near enough. #}
{% macro _is_same(column) -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {%- set same = dbt_delta._comparable('_before.' ~ name, column.type) ~ ' <=> '
        ~ dbt_delta._comparable('_after.' ~ name, column.type) -%}
    {%- if not column.tolerance -%}{{- return(same) -}}{%- endif -%}
    {%- if column.type not in ('tinyint', 'smallint', 'int', 'bigint', 'float', 'double')
        and not column.type.startswith('decimal') -%}
        {%- do dbt_delta._refuse(
            "tolerance names '" ~ column.name ~ "', which is a " ~ column.type ~ '; it is for numbers.'
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
