{#
    When the rows of tables last changed, for `dbt source freshness` without loaded_at_field. The logs say it: OPTIMIZE,
    VACUUM, properties and comments do not count.
#}
{% macro spark__get_relation_last_modified(information_schema, relations) -%}
    {%- set rows = [] -%}
    {%- for relation in relations -%}
        {%- do rows.append(
            'select ' ~ dbt_delta._literal(relation.schema) ~ ' as schema, '
            ~ dbt_delta._literal(relation.identifier) ~ ' as identifier, '
            ~ dbt_delta._utc_text(dbt_delta._changed_at(relation)) ~ ' as last_modified, '
            ~ dbt_delta._utc_text('current_timestamp()') ~ ' as snapshotted_at'
        ) -%}
    {%- endfor -%}
    {%- call statement('last_modified', fetch_result=true) -%}
        {{ rows | join(' union all ') }}
    {%- endcall -%}
    {{- return(load_result('last_modified')) -}}
{%- endmacro %}

{# A timestamp as text with its zone: dbt takes one without for UTC. #}
{% macro _utc_text(timestamp) -%}
    {{- return(
        'date_format(to_utc_timestamp(' ~ timestamp ~ ", current_timezone()), \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'\")"
    ) -}}
{%- endmacro %}

{# When the rows of a table last changed, as SQL. #}
{% macro _changed_at(relation) -%}
    {%- set found = none -%}
    {%- if adapter.dbt_delta_changed_at is defined -%}
        {%- set found = adapter.dbt_delta_changed_at(relation.schema, relation.identifier) -%}
    {%- endif -%}
    {%- if found is not none -%}{{- return('timestamp_micros(' ~ found ~ ')') -}}{%- endif -%}
    {%- set problem = none -%}
    {%- if not dbt_delta._is_in_catalog(relation) -%}
        {%- set problem = 'the catalog does not have it' -%}
    {%- elif dbt_delta._describe(relation).provider != 'delta' -%}
        {%- set problem = 'it is no Delta table, so that no log says when it changed. Give it loaded_at_field' -%}
    {%- endif -%}
    {%- if problem is not none -%}
        {%- do dbt_delta._refuse('freshness of ' ~ dbt_delta._bare(relation) ~ ': ' ~ problem ~ '.') -%}
    {%- endif -%}
    {%- set commits = dbt_delta._commits(relation) -%}
    {%- for commit in commits if dbt_delta._moves_rows(commit) -%}
        {{- return('timestamp' ~ dbt_delta._literal(commit.time)) -}}
    {%- endfor -%}
    {{- return('timestamp' ~ dbt_delta._literal(commits[-1].time)) -}}
{%- endmacro %}
