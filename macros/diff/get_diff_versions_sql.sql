{#
    A SELECT of what differs between two versions of a table: one row per row that is there more or
    less, or per key whose row is another. Reads the change feed where the table kept one, else the
    files that the commits between touched, else all; commits that move rows only are no change.
#}
{% macro get_diff_versions_sql(
    relation, from_version, to_version=none, unique_key=none, exclude_columns=[], tolerance={}
) -%}
    {%- if not execute -%}{{- return('select * from ' ~ relation) -}}{%- endif -%}
    {%- set sides = dbt_delta._version_sides(relation, from_version, to_version, 'get_diff_versions_sql') -%}
    {{- return(dbt_delta._diff_sql(dbt_delta._comparison(
        sides.before, sides.after, unique_key, exclude_columns, tolerance, sides.rows
    ))) -}}
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
            'kind': 'feed', 'text': dbt_delta.get_change_feed_sql(relation, low + 1, high), 'backwards': from > to,
        } -%}
    {%- else -%}
        {%- set rows = dbt_delta._touched_files(relation, low + 1, high) -%}
    {%- endif -%}
    {{- return({
        'before': dbt_delta.as_of(relation, version=from),
        'after': dbt_delta.as_of(relation, version=to),
        'from_version': from, 'to_version': to, 'rows': rows,
    }) -}}
{%- endmacro %}

{# Whether one of the commits after a version, up to another, may have changed rows. #}
{% macro _move_rows(commits, low, high) -%}
    {%- for commit in commits if low < commit.version <= high and dbt_delta._moves_rows(commit) -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{#
    Whether a name may be another column's after these commits, without a file that says so: column mapping
    renames and drops without writing, and RESTORE brings the names of another version back.
#}
{% macro _reuses_names(commits, low, high) -%}
    {%- set at = namespace(renames=false, restores=false, any=false) -%}
    {%- for commit in commits -%}
        {%- set is_between = low < commit.version <= high -%}
        {%- if commit.operation in ('RENAME COLUMN', 'DROP COLUMNS') -%}
            {%- set at.any, at.renames = true, at.renames or is_between -%}
        {%- elif commit.operation == 'RESTORE' -%}
            {%- set at.restores = at.restores or is_between -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(at.renames or at.restores and at.any) -}}
{%- endmacro %}

{# Whether a commit may have changed rows. #}
{% macro _moves_rows(commit) -%}
    {{- return(commit.operation not in dbt_delta._upkeep_operations() + [
        'CLUSTER BY', 'SET TBLPROPERTIES', 'UNSET TBLPROPERTIES', 'CHANGE COLUMN', 'CHANGE COLUMNS',
        'ADD COLUMNS', 'RENAME COLUMN', 'ADD CONSTRAINT', 'DROP CONSTRAINT',
    ]) -}}
{%- endmacro %}

{#
    Rows of files that no commit between touched are equal. Which files were is read in the log; where
    that is not whole any more, all rows are compared.
#}
{% macro _touched_files(relation, first, last) -%}
    {%- set location = run_query('describe detail ' ~ dbt_delta._named(relation)).rows[0]['location'] -%}
    {%- set log = 'text.' ~ dbt_delta._quoted(dbt_delta._plain_glob(location) ~ '/_delta_log/*.json') -%}
    {%- set entries -%}
        (
            select
                from_json(value, 'add struct<path string>, remove struct<path string>') as entry,
                cast(substring(_metadata.file_name, 1, 20) as bigint) as version
            from {{ log }}
            where _metadata.file_name rlike '^[0-9]{20}[.]json$'
        ) as entries
        where version between {{ first }} and {{ last }}
    {%- endset -%}
    {%- set known = run_query('select count(distinct version) as versions from ' ~ entries).rows[0]['versions'] -%}
    {%- if known | int < last - first + 1 -%}{{- return({'kind': 'all'}) -}}{%- endif -%}
    {{- return({
        'kind': 'files',
        'text': "select substring_index(coalesce(entry.add.path, entry.remove.path), '/', -1) from " ~ entries
            ~ ' and coalesce(entry.add.path, entry.remove.path) is not null',
    }) -}}
{%- endmacro %}
