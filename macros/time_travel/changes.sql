{#
    The rows that differ between two versions, before and after: from the change feed if the table had one all the
    time, otherwise by comparison, which shows an update as a delete and an insert. Both return the columns of the
    later version, by name.
#}
{% macro changes(relation, from_version, to_version=none) -%}
    {%- if not execute -%}{{- return('select * from ' ~ relation) -}}{%- endif -%}
    {%- do dbt_delta._in_format('check_operation')('changes') -%}
    {%- for name, version in {'from_version': from_version, 'to_version': to_version}.items() if version is not none -%}
        {%- do dbt_delta._check_version('changes of ' ~ relation ~ ' has ' ~ name, version) -%}
    {%- endfor -%}
    {%- set newest = dbt_delta._commits(relation, 1)[0].version -%}
    {%- set to = newest if to_version is none else to_version | int -%}
    {%- set from = from_version | int -%}
    {%- if from > to or to > newest -%}
        {%- do dbt_delta._refuse(
            'changes of ' ~ relation ~ ' has from_version ' ~ from ~ ' and to_version ' ~ to ~ '. The newest version '
            ~ 'is ' ~ newest ~ ', and from_version must not be above to_version.'
        ) -%}
    {%- endif -%}
    {%- set columns = dbt_delta._columns_of('select * from ' ~ dbt_delta.as_of(relation, version=to)) -%}
    {%- for name in ('_change_type', '_commit_version') if dbt_delta._column(columns, name) is not none -%}
        {%- do dbt_delta._refuse(
            'changes of ' ~ relation ~ ': the table has a column ' ~ name ~ ', which changes adds itself. Rename it, '
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

{% macro get_change_feed_sql(relation, first, last) -%}
    {{- return(dbt_delta._change_feed_sql(relation, first, last)) -}}
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
