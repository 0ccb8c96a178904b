{#
    Rows that were open with another dbt_valid_to_current than this run's. They would count as ended, and their keys
    as coming back at that time, usually in the year 9999.
#}

{# How many rows have an end that only open rows have, without looking at the rows after them. #}
{% macro _ends_ahead(table, batch, settings) -%}
    {{- return('0' if table is none or settings.scd_type == 1
        else '(select count(*) from ' ~ table.name ~ ' where ' ~ dbt_delta._is_ahead(table, batch, settings) ~ ')') -}}
{%- endmacro %}

{#
    Rows end in the future if the next one begins then, or end when they begin, if a key went away whose last change
    is in the future. A feed may have a deletion in the future; if deletions are remembered, it is the next row.
#}
{% macro _is_ahead(table, batch, settings) -%}
    {%- set from, to = dbt_delta._quoted(settings.from), dbt_delta._quoted(settings.to) -%}
    {%- set conditions = [to ~ ' is not null', 'not ' ~ dbt_delta._is_open(batch, settings)] -%}
    {%- if batch.time in ('timestamp', 'timestamp_ntz', 'date') -%}
        {%- set now = snapshot_get_time() ~ (" + interval '50' year"
            if settings.strategy == 'cdc' and settings.deletions == 'forget' else '') -%}
        {%- do conditions.append(to ~ ' > ' ~ dbt_delta._as_time(now, 'timestamp', batch.time)) -%}
        {%- if settings.strategy != 'cdc' -%}
            {%- do conditions.append(
                to ~ ' > ' ~ (from if batch.time == 'date' else 'timestampadd(microsecond, 1, ' ~ from ~ ')')
            ) -%}
        {%- endif -%}
    {%- else -%}
        {%- do conditions.append(to ~ ' > (select max(' ~ from ~ ') from ' ~ table.name ~ ')') -%}
    {%- endif -%}
    {{- return(conditions | join(' and ')) -}}
{%- endmacro %}

{# Refuses the run if no row follows such a row. #}
{% macro _check_open_ends(table, batch, settings) -%}
    {%- set rows = dbt_delta._ask(dbt_delta.get_open_ends_sql(table, batch, settings)).rows -%}
    {%- if rows | length == 0 -%}{{- return(none) -}}{%- endif -%}
    {%- set end = rows[0]['ends_at'] ~ (' UTC' if batch.time == 'timestamp' else '') -%}
    {%- set to = dbt_delta._quoted(settings.to) -%}
    {%- do dbt_delta._drop(batch.staging) -%}
    {%- do dbt_delta._refuse(
        rows[0]['ended'] | int ~ ' rows of ' ~ table.name ~ ' end at ' ~ end ~ ' and no row follows them. They were '
        ~ 'open when dbt_valid_to_current was that time. In this run it is ' ~ (settings.current or 'not set') ~ ', so they '
        ~ 'would count as ended. Nothing was written. Set dbt_valid_to_current to that time again, with its time zone, or '
        ~ 'open them: update ' ~ table.name ~ ' set ' ~ to ~ ' = ' ~ dbt_delta._current(batch, settings) ~ ' where '
        ~ to ~ ' = ' ~ dbt_delta._end_literal(rows[0], batch) ~ (
            '. If they are deletions of a feed, set cdc_deletions: forget.'
            if settings.strategy == 'cdc' and settings.deletions != 'forget' else ''
        )
    ) -%}
{%- endmacro %}

{% macro _end_literal(row, batch) -%}
    {%- if batch.time == 'timestamp' -%}{{- return('timestamp_micros(' ~ row['micros'] ~ ')') -}}{%- endif -%}
    {{- return('cast(' ~ dbt_delta._literal(row['ends_at']) ~ ' as ' ~ batch.time ~ ')') -}}
{%- endmacro %}

{# The most frequent end of such rows, and how many rows have it. #}
{% macro get_open_ends_sql(table, batch, settings) -%}
{%- set to = dbt_delta._quoted(settings.to) -%}
select
    {{ dbt_delta._id_text('__dbt_to', batch.time) }} as ends_at,
    {{ 'cast(unix_micros(__dbt_to) as string)' if batch.time == 'timestamp' else 'null' }} as micros,
    cast(count(*) as string) as ended
from (
    select {{ dbt_delta._key_columns(batch['keys']) | join(', ') }}, {{ to }} as __dbt_to
    from {{ table.name }}
    where {{ dbt_delta._is_ahead(table, batch, settings) }}
) as ended
left anti join (
    select {{ dbt_delta._key_columns(batch['keys']) | join(', ') }}, {{ dbt_delta._quoted(settings.from) }} as __dbt_from
    from {{ table.name }}
) as following
    on {{ dbt_delta._same_snapshot_keys(batch['keys'], 'ended', 'following') }}
    and ended.__dbt_to = following.__dbt_from
group by __dbt_to
order by count(*) desc
limit 1
{%- endmacro %}
