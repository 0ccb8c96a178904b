{#
    The rows that differ between two versions, as they were and as they are: of the change feed where
    the table kept one all the time, else by comparison, which knows an update as a delete and
    an insert.
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
    {%- if from < to and dbt_delta._has_change_feed(relation, from + 1, to) -%}
        {{- return(dbt_delta.get_change_feed_sql(relation, from + 1, to)) -}}
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
{%- set before = dbt_delta.as_of(relation, version=from_version) -%}
{%- set after = dbt_delta.as_of(relation, version=to_version) -%}
select *, 'delete' as _change_type, cast({{ to_version }} as bigint) as _commit_version
from (select * from {{ before }} except all select * from {{ after }})
union all
select *, 'insert' as _change_type, cast({{ to_version }} as bigint) as _commit_version
from (select * from {{ after }} except all select * from {{ before }})
{%- endmacro %}
