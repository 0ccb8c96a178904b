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

{# A change feed has the columns of the newest schema; it serves if they hold those of both sides. #}
{% macro _has_columns(text, columns) -%}
    {%- set found = dbt_delta._columns_of(text) -%}
    {%- for column in columns -%}
        {%- set match = dbt_delta._column(found, column.name) -%}
        {%- if match is none or match.type != column.type -%}{{- return(false) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}

{#
    Two versions of a table as the sides of a comparison: {before, after, rows, from_version,
    to_version}, rows being how those that differ are found; see _comparison.
#}
{% macro _version_sides(relation, from_version, to_version, macro) -%}
    {%- set commits = dbt_delta._commits(relation) -%}
    {%- set from = dbt_delta._version_named(relation, from_version, commits, macro ~ ': from_version') -%}
    {%- set to = commits[0].version if to_version is none
        else dbt_delta._version_named(relation, to_version, commits, macro ~ ': to_version', after=true) -%}
    {%- set low, high = [from, to] | min, [from, to] | max -%}
    {%- for version in (from, to) | unique -%}
        {%- do dbt_delta._reach(relation, version, commits, macro) -%}
    {%- endfor -%}
    {%- if dbt_delta._reuses_names(commits, low, high) -%}
        {%- set rows = {'kind': 'all'} -%}
    {%- elif not dbt_delta._move_rows(commits, low, high) -%}
        {%- set rows = {'kind': 'none'} -%}
    {%- elif dbt_delta._has_change_feed(relation, low + 1, high) -%}
        {%- set rows = {
            'kind': 'feed', 'text': dbt_delta._change_feed_sql(relation, low + 1, high), 'backwards': from > to,
        } -%}
    {%- else -%}
        {%- set rows = dbt_delta._touched_files(relation, low + 1, high) -%}
    {%- endif -%}
    {{- return({
        'before': dbt_delta._as_of(relation, from),
        'after': dbt_delta._as_of(relation, to),
        'from_version': from, 'to_version': to, 'rows': rows,
    }) -}}
{%- endmacro %}

{#
    Two versions as changes compares them: each column of the later one with what it was, under its former
    name, or with NULL where it was not there. Rows of files that no commit touched are the same so.
#}
{% macro _changes_comparison(relation, from, to) -%}
    {%- set commits = dbt_delta._commits(relation) -%}
    {%- for version in (from, to) | unique -%}
        {%- do dbt_delta._reach(relation, version, commits, 'changes') -%}
    {%- endfor -%}
    {%- set before, after = dbt_delta._as_of(relation, from), dbt_delta._as_of(relation, to) -%}
    {%- set before_columns = dbt_delta._columns_of('select * from ' ~ before) -%}
    {%- set columns = [] -%}
    {%- for column in dbt_delta._columns_of('select * from ' ~ after) -%}
        {%- set former = dbt_delta._former_name(column.name, commits, from, to) -%}
        {%- set match = dbt_delta._column(before_columns, former) if former is not none else none -%}
        {%- do columns.append({
            'name': column.name, 'former': match.name if match else none,
            'before': match.type if match else none, 'after': column.type,
            'type': dbt_delta._type_of_both(match.type, column.type) if match else column.type,
        }) -%}
    {%- endfor -%}
    {%- set rows = {'kind': 'all'} -%}
    {%- if not dbt_delta._loses_track(commits, from, to) and not dbt_delta._hides_files(before_columns + columns) -%}
        {%- set rows = dbt_delta._touched_files(relation, from + 1, to) if dbt_delta._move_rows(commits, from, to)
            else {'kind': 'none'} -%}
    {%- endif -%}
    {{- return({'before': before, 'after': after, 'columns': columns, 'keys': [], 'rows': rows}) -}}
{%- endmacro %}
