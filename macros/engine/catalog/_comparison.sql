{#
    Two texts for FROM as they are compared, see _compared. `rows`, as _diff_way returns it, says where to look for
    rows that differ; it is used if these columns allow it.
#}
{% macro _comparison(before, after, unique_key, exclude_columns, tolerance, rows={'kind': 'all'}) -%}
    {%- set before_columns = dbt_delta._columns_of('select * from ' ~ before) -%}
    {%- set after_columns = dbt_delta._columns_of('select * from ' ~ after) -%}
    {%- set compared = dbt_delta._compared(
        before, after, before_columns, after_columns, unique_key, exclude_columns, tolerance
    ) -%}
    {%- set usable = dbt_delta._has_columns(rows.text, compared['columns']) if rows.kind == 'feed'
        else rows.kind != 'files' or not dbt_delta._hides_files(before_columns + after_columns) -%}
    {{- return(dict(compared, rows=rows if usable else {'kind': 'all'})) -}}
{%- endmacro %}

{# A change feed has the columns of the newest schema; it can be used if these include those of both sides. #}
{% macro _has_columns(text, columns) -%}
    {%- set found = dbt_delta._columns_of(text) -%}
    {%- for column in columns -%}
        {%- set match = dbt_delta._column(found, column.name) -%}
        {%- if match is none or match.type != column.type -%}{{- return(false) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}

{#
    Two versions of a table as the sides of a comparison: {before, after, rows, from_version, to_version}. `rows` says
    how rows that differ are found; see _comparison.
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
    {%- set way = 'all' if not dbt_delta._in_format('has_log')()
        else dbt_delta._diff_way(commits, low, high, dbt_delta._reuses_names(commits, low, high)) -%}
    {%- if way != 'rows' -%}
        {%- set rows = {'kind': way} -%}
    {%- elif dbt_delta._has_change_feed(relation, low + 1, high) -%}
        {%- set rows = {
            'kind': 'feed', 'text': dbt_delta._change_feed_sql(relation, low + 1, high), 'backwards': from > to,
        } -%}
    {%- else -%}
        {%- set rows = dbt_delta._touched_files(relation, low + 1, high) -%}
    {%- endif -%}
    {{- return({
        'before': dbt_delta._as_of(relation, dbt_delta._readable(commits, from)),
        'after': dbt_delta._as_of(relation, dbt_delta._readable(commits, to)),
        'from_version': dbt_delta._readable(commits, from), 'to_version': dbt_delta._readable(commits, to),
        'rows': rows,
    }) -}}
{%- endmacro %}

{#
    Two versions as `changes` compares them: each column of the later one with its former self, under its former name,
    or with NULL if it did not exist. So the rows of files that no commit touched are equal.
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
            'type': dbt_delta._type_of_both(match.type, column.type) if match else column.type, 'tolerance': none,
        }) -%}
    {%- endfor -%}
    {%- set way = dbt_delta._diff_way(
        commits, from, to, dbt_delta._loses_track(commits, from, to) or dbt_delta._hides_files(before_columns + columns)
    ) -%}
    {%- set rows = dbt_delta._touched_files(relation, from + 1, to) if way == 'rows' else {'kind': way} -%}
    {{- return({'before': before, 'after': after, 'columns': columns, 'keys': [], 'rows': rows}) -}}
{%- endmacro %}
