{% macro _known_columns(argument, names, columns) -%}
    {%- for name in names if dbt_delta._column(columns, name) is none -%}
        {%- do dbt_delta._refuse(
            argument ~ " names '" ~ name ~ "', which is not a column of both sides. Columns are "
            ~ columns | map(attribute='name') | unique | join(', ') ~ '.'
        ) -%}
    {%- endfor -%}
{%- endmacro %}

{# Whether a column hides Spark's _metadata, which has the file of a row. #}
{% macro _hides_files(columns) -%}
    {{- return(dbt_delta._column(columns, '_metadata') is not none) -}}
{%- endmacro %}

{# A tolerance, 0.01, '1%' or {absolute: .., relative: ..}, in the last form. #}
{% macro _tolerance(name, value) -%}
    {%- set parts = value if value is mapping
        else {'relative': '(' ~ value.rstrip('% ') ~ ' / 100.0)'} if value is string and value.strip().endswith('%')
        else {'absolute': value} -%}
    {%- for kind, number in parts.items() -%}
        {%- if kind not in ('absolute', 'relative')
            or not modules.re.fullmatch('\\(?[0-9]*[.]?[0-9]+([eE][+-]?[0-9]+)?( / 100[.]0\\))?', number | string) -%}
            {%- do dbt_delta._refuse(
                "tolerance of '" ~ name ~ "' is " ~ value
                ~ ". Use a number, a percentage such as '1%', or {absolute: 0.01, relative: 0.001}."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(parts) -}}
{%- endmacro %}

{# A type that can hold the values of both; string if there is none. #}
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

{# The later type if it can hold the values of the earlier one, with fields by name; otherwise a type for both. #}
{% macro _type_of_both(before, after) -%}
    {%- if dbt_delta._type_kind(after) == 'atomic' -%}{{- return(dbt_delta._common_type(before, after)) -}}{%- endif -%}
    {%- for change in dbt_delta._type_changes(after, before, []) if change.kind == 'retype' -%}
        {%- if not dbt_delta._fits(change.was, change.type) -%}{{- return('string') -}}{%- endif -%}
    {%- endfor -%}
    {{- return(after) -}}
{%- endmacro %}

{#
    Two sides as they are compared: {before, after, columns, keys, schema}. `columns` are those of both sides, by
    name, that are not excluded: {name, type, before, after, former, tolerance}, with the types before and after;
    `schema` lists the changes of columns.
#}
{% macro _compared(before, after, before_columns, after_columns, unique_key, exclude_columns, tolerance) -%}
    {%- set excluded = dbt_delta._names(exclude_columns) | map('lower') | list -%}
    {%- do dbt_delta._known_columns('exclude_columns', excluded, before_columns + after_columns) -%}
    {%- set tolerances, both, columns, compared_before, compared_after, keys = {}, [], [], [], [], [] -%}
    {%- for column in before_columns if column.name | lower not in excluded -%}
        {%- do compared_before.append(column) -%}
    {%- endfor -%}
    {%- for column in after_columns if column.name | lower not in excluded -%}
        {%- do compared_after.append(column) -%}
        {%- if dbt_delta._column(before_columns, column.name) is not none -%}{%- do both.append(column) -%}{%- endif -%}
    {%- endfor -%}
    {%- if not both -%}
        {%- do dbt_delta._refuse('No column to compare: ' ~ before ~ ' and ' ~ after ~ ' have no column in common.') -%}
    {%- endif -%}
    {%- set names = dbt_delta._names(unique_key) -%}
    {%- do dbt_delta._known_columns('unique_key', names, both) -%}
    {%- do dbt_delta._known_columns('tolerance', tolerance.keys() | list, both) -%}
    {%- if tolerance and not names -%}
        {%- do dbt_delta._refuse(
            'tolerance needs unique_key, which decides which rows are compared.'
        ) -%}
    {%- endif -%}
    {%- for name, value in tolerance.items() -%}
        {%- do tolerances.update({name | lower: dbt_delta._tolerance(name, value)}) -%}
    {%- endfor -%}
    {%- for column in both -%}
        {%- set was = dbt_delta._column(before_columns, column.name) -%}
        {%- do columns.append({
            'name': column.name, 'before': was.type, 'after': column.type, 'former': none,
            'type': dbt_delta._common_type(was.type, column.type), 'tolerance': tolerances.get(column.name | lower),
        }) -%}
    {%- endfor -%}
    {%- for name in names -%}{%- do keys.append(dbt_delta._column(columns, name)) -%}{%- endfor -%}
    {{- return({
        'before': before, 'after': after, 'columns': columns, 'keys': keys,
        'schema': dbt_delta._column_changes(compared_after, compared_before),
    }) -}}
{%- endmacro %}

{#
    Where to look for rows that differ between two versions: in `all` rows; in `none`, if no commit in between moved
    rows; or in the `rows` that these commits touched, from the change feed or from files.
#}
{% macro _diff_way(commits, low, high, loses_track) -%}
    {{- return('all' if loses_track else 'rows' if dbt_delta._move_rows(commits, low, high) else 'none') -}}
{%- endmacro %}
