{#
    dbt.dateadd: dbt-spark's drops the fraction of a second, adds no milliseconds or microseconds, and fails on a value
    that is NULL where the timestamp is a text.
#}
{% macro spark__dateadd(datepart, interval, from_date_or_timestamp) -%}
    timestampadd({{ dbt_delta._date_part('dateadd', datepart) }}, cast({{ interval }} as bigint), {{ from_date_or_timestamp }})
{%- endmacro %}

{#
    dbt.datediff: the boundaries between two values, as on other databases. dbt-spark's counts parts that have begun: two
    hours from 01:00 to 02:30.
#}
{% macro spark__datediff(first_date, second_date, datepart) -%}
    {%- set part, counted = dbt_delta._date_part('datediff', datepart), [] -%}
    {%- for value in (first_date, second_date) -%}
        {#- A week begins on Sunday, as dbt-spark has it; Spark's own on Monday. -#}
        {%- set moment = 'timestampadd(day, 1, ' ~ value ~ ')' if part == 'week' else value -%}
        {%- do counted.append("date_trunc('" ~ part ~ "', " ~ moment ~ ')') -%}
    {%- endfor -%}
    {%- set difference = 'timestampdiff(' ~ part ~ ', ' ~ counted | join(', ') ~ ')' -%}
    {{- 'cast(' ~ difference ~ ' as int)' if part in ('day', 'year') else difference -}}
{%- endmacro %}

{% macro _date_part(macro, datepart) -%}
    {%- set parts = [
        'microsecond', 'millisecond', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year',
    ] -%}
    {%- do dbt_delta._check_choice('dbt.' ~ macro ~ ': datepart', datepart | lower, parts) -%}
    {{- return(datepart | lower) -}}
{%- endmacro %}
