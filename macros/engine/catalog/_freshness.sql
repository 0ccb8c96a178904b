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

{#
    A timestamp as text with its zone: dbt takes one without for UTC. A zone may not have the wall-clock time of UTC: when
    its summer begins, an hour is missing. So the text is that of a time without a zone.
#}
{% macro _utc_text(timestamp) -%}
    {{- return(
        "replace(cast(timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, unix_seconds(" ~ timestamp
        ~ ")) as string), ' ', 'T') || '.000000Z'"
    ) -}}
{%- endmacro %}

{# When the rows of a table last changed, as SQL. #}
{% macro _changed_at(relation) -%}
    {%- set found = none -%}
    {%- if adapter.dbt_delta_changed_at is defined -%}
        {%- set found = adapter.dbt_delta_changed_at(relation.schema, relation.identifier) -%}
    {%- endif -%}
    {%- if found is not none -%}
        {{- return(dbt_delta._at_the_latest(relation, 'timestamp_micros(' ~ found[0] ~ ')', found[1])) -}}
    {%- endif -%}
    {%- set problem, commits = none, [] -%}
    {%- if not dbt_delta._is_in_catalog(relation) -%}
        {%- set problem = 'the catalog does not have it' -%}
    {%- elif dbt_delta._describe(relation).provider != 'delta' -%}
        {%- set problem = 'it is no Delta table, so that no log says when it changed. Give it loaded_at_field' -%}
    {%- else -%}
        {%- set commits = dbt_delta._commits(relation) -%}
        {%- set problem = none if commits else 'its log has no commit that says when it changed' -%}
    {%- endif -%}
    {%- if problem is not none -%}
        {%- do dbt_delta._refuse('freshness of ' ~ dbt_delta._bare(relation) ~ ': ' ~ problem ~ '.') -%}
    {%- endif -%}
    {%- for commit in commits if dbt_delta._moves_rows(commit) or loop.last -%}
        {{- return(dbt_delta._at_the_latest(
            relation, 'timestamp' ~ dbt_delta._literal(commit.time),
            dbt_delta._moves_rows(commit) or commit.version == 0
        )) -}}
    {%- endfor -%}
{%- endmacro %}

{#
    The same time. Where the log does not go back to the change, it was at this time or before: that is enough to call
    the source stale, but not to call it fresh.
#}
{% macro _at_the_latest(relation, time, is_known) -%}
    {%- if is_known -%}{{- return(time) -}}{%- endif -%}
    {%- set age = run_query(
        'select unix_seconds(current_timestamp()) - unix_seconds(' ~ time ~ ') as age'
    ).rows[0]['age'] | int -%}
    {%- set limit = dbt_delta._freshness_limit(relation) -%}
    {%- if limit is none or age < limit -%}
        {%- do dbt_delta._refuse(
            'freshness of ' ~ dbt_delta._bare(relation) ~ ': its rows have not changed for ' ~ age ~ ' seconds or longer. '
            ~ 'The commits before were removed from its log. Give it loaded_at_field, or keep its log for longer: '
            ~ 'delta.logRetentionDuration.'
        ) -%}
    {%- endif -%}
    {{- return(time) -}}
{%- endmacro %}

{# The longest time, in seconds, after which a source that is this relation is stale; none without any. #}
{% macro _freshness_limit(relation) -%}
    {%- set limits, seconds = [], {'minute': 60, 'hour': 3600, 'day': 86400} -%}
    {%- for source in graph.sources.values() if source.schema | lower == relation.schema | lower
        and source.identifier | lower == relation.identifier | lower -%}
        {%- for rule in ('warn_after', 'error_after') -%}
            {%- set after = (source.freshness or {}).get(rule) or {} -%}
            {%- do limits.append(after.count * seconds[after.period | string]) if after.get('count') -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(limits | max if limits else none) -}}
{%- endmacro %}
