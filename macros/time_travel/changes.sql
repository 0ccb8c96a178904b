{#
    The rows that differ between two versions, as they were and as they are: of the change feed where
    the table kept one all the time, else by comparison, which knows an update as a delete and
    an insert. Both give the columns of the later version, by name.
#}
{% macro changes(relation, from_version, to_version=none) -%}
    {%- if not execute -%}{{- return('select * from ' ~ relation) -}}{%- endif -%}
    {%- for name, version in {'from_version': from_version, 'to_version': to_version}.items()
        if version is not none and not modules.re.match('[0-9]+$', version | string) -%}
        {%- do dbt_delta._refuse(
            'changes of ' ~ relation ~ ' has ' ~ name ~ " '" ~ version ~ "': a version is 0 or a whole number above it."
        ) -%}
    {%- endfor -%}
    {%- set newest = dbt_delta._commits(relation, 1)[0].version -%}
    {%- set to = newest if to_version is none else to_version | int -%}
    {%- set from = from_version | int -%}
    {%- if from > to or to > newest -%}
        {%- do dbt_delta._refuse(
            'changes of ' ~ relation ~ ' goes from version ' ~ from ~ ' to ' ~ to ~ '; its newest version is '
            ~ newest ~ ', and from_version must not be above to_version.'
        ) -%}
    {%- endif -%}
    {%- set columns = dbt_delta._columns_of('select * from ' ~ dbt_delta.as_of(relation, version=to)) -%}
    {%- for name in ('_change_type', '_commit_version') if dbt_delta._column(columns, name) is not none -%}
        {%- do dbt_delta._refuse(
            'changes of ' ~ relation ~ ': the table has a column ' ~ name ~ ', as changes gives one of its own. Rename it, '
            ~ 'or use get_diff_versions_sql.'
        ) -%}
    {%- endfor -%}
    {%- set feed = dbt_delta.get_change_feed_sql(relation, from + 1, to) -%}
    {%- if from < to and dbt_delta._has_change_feed(relation, from + 1, to)
        and dbt_delta._has_columns(feed, columns) -%}
        {#- A feed has the columns of the newest version. -#}
        {{- return(
            'select ' ~ dbt_delta._quoted_list(columns | map(attribute='name')) ~ ', _change_type, _commit_version\nfrom (\n'
            ~ feed ~ '\n)'
        ) -}}
    {%- endif -%}
    {{- return(dbt_delta.get_compared_changes_sql(relation, from, to)) -}}
{%- endmacro %}

{# Whether Delta can give the feed of these commits: it says so when it is asked for a row. #}
{% macro _has_change_feed(relation, first, last) -%}
    {{- return(dbt_delta._succeeds('count(*)', dbt_delta.get_change_feed_sql(relation, first, last) ~ ' limit 1')) -}}
{%- endmacro %}

{% macro get_change_feed_sql(relation, first, last) -%}
select * except (_commit_timestamp)
from table_changes({{ dbt_delta._literal(dbt_delta._named(relation)) }}, {{ first }}, {{ last }})
{%- endmacro %}

{% macro get_compared_changes_sql(relation, from_version, to_version) -%}
{%- set comparison = dbt_delta._changes_comparison(relation, from_version | int, to_version | int) -%}
select
    __dbt_change.*,
    _change_type,
    cast({{ to_version }} as bigint) as _commit_version
from (
    select
        coalesce(_after, _before) as __dbt_change,
        if(_diff = 'added', 'insert', 'delete') as _change_type
    from (
{{ dbt_delta._diff_sql(comparison) }}
    ) as differences
) as changes
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
    {%- set before, after = dbt_delta.as_of(relation, version=from), dbt_delta.as_of(relation, version=to) -%}
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

{# How a column was called at an earlier version; none where it was made since. #}
{% macro _former_name(name, commits, from, to) -%}
    {%- set at = namespace(name=name) -%}
    {%- for commit in commits if from < commit.version <= to and at.name is not none -%}
        {%- if commit.operation == 'RENAME COLUMN'
            and dbt_delta._column_at(commit.parameters.newColumnPath) | lower == at.name | lower -%}
            {%- set at.name = dbt_delta._column_at(commit.parameters.oldColumnPath) -%}
        {%- elif commit.operation == 'DROP COLUMNS'
            and at.name | lower in dbt_delta._dropped_columns(commit) | map('lower') -%}
            {%- set at.name = none -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(at.name) -}}
{%- endmacro %}

{# The column of a path as Delta's history writes it, in quotes only if it holds a dot; empty of a field in a struct. #}
{% macro _column_at(path) -%}
    {%- if '.' not in path -%}{{- return(path) -}}{%- endif -%}
    {%- set quoted = modules.re.fullmatch('`((?:(?!`[.]|[.]`).)*)`', path, modules.re.DOTALL) -%}
    {{- return(quoted.group(1) if quoted else '') -}}
{%- endmacro %}

{% macro _dropped_columns(commit) -%}
    {%- set columns = [] -%}
    {%- for path in fromjson(commit.parameters.get('columns') or '[]', []) -%}
        {%- do columns.append(dbt_delta._column_at(path)) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{#
    Whether names of fields, or those that a RESTORE brought back, may be other columns' without a file that
    says so: then all rows are compared, by name.
#}
{% macro _loses_track(commits, low, high) -%}
    {%- set others = [] -%}
    {%- for commit in commits if not (
        low < commit.version <= high and (
            commit.operation == 'RENAME COLUMN' and dbt_delta._column_at(commit.parameters.oldColumnPath)
            or commit.operation == 'DROP COLUMNS' and '' not in dbt_delta._dropped_columns(commit)
        )
    ) -%}
        {%- do others.append(commit) -%}
    {%- endfor -%}
    {%- set restores = commits | selectattr('operation', 'equalto', 'RESTORE') | map(attribute='version')
        | select('gt', low) | select('le', high) | list -%}
    {{- return(dbt_delta._reuses_names(commits if restores else others, low, high)) -}}
{%- endmacro %}

{# The later type where it holds the earlier one's values, fields by name; else one that holds both. #}
{% macro _type_of_both(before, after) -%}
    {%- if dbt_delta._type_kind(after) == 'atomic' -%}{{- return(dbt_delta._common_type(before, after)) -}}{%- endif -%}
    {%- for change in dbt_delta._type_changes(after, before, []) if change.kind == 'retype' -%}
        {%- if not dbt_delta._fits(change.was, change.type) -%}{{- return('string') -}}{%- endif -%}
    {%- endfor -%}
    {{- return(after) -}}
{%- endmacro %}
