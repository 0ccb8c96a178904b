{#
    Sets how long the versions of a table can be read and restored: both properties in one statement, because Delta
    refuses a retention of the log that is shorter than that of the files.
#}
{% macro set_retention(relation, days, log_days=none, dry_run=false) -%}
    {%- if not execute -%}{{- return('') -}}{%- endif -%}
    {%- set relation = dbt_delta._relation_given(relation, 'set_retention') -%}
    {%- set log_days = [30, days] | max if log_days is none and days is number else log_days -%}
    {%- for name, value in {'days': days, 'log_days': log_days}.items() -%}
        {%- if value is not number or value is boolean or value < 0 -%}
            {%- do dbt_delta._refuse('set_retention has ' ~ name ~ " '" ~ value ~ "'. Use a number of days.") -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if log_days < days -%}
        {%- do dbt_delta._refuse(
            'set_retention has days ' ~ days ~ ' and log_days ' ~ log_days
            ~ ': a version without its log cannot be read. Use log_days of at least ' ~ days ~ '.'
        ) -%}
    {%- endif -%}
    {%- set existing = dbt_delta._delta_table(relation, 'set_retention') -%}
    {%- set wanted = {
        dbt_delta._retention_property('files'): 'interval ' ~ (days * 24) | round(0, 'ceil') | int ~ ' hours',
        dbt_delta._retention_property('log'): 'interval ' ~ (log_days * 24) | round(0, 'ceil') | int ~ ' hours',
    } -%}
    {%- set sql = dbt_delta.get_set_properties_sql(relation, wanted) -%}
    {%- if dry_run -%}
        {%- do log(sql ~ ' (dry run)', info=true) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set lacking = [] -%}
    {%- for key, value in wanted.items() if not dbt_delta._has_property(existing.properties, key, value) -%}
        {%- do lacking.append(key) -%}
    {%- endfor -%}
    {%- if lacking -%}{%- do dbt_delta._execute(sql) -%}{%- endif -%}
    {%- do log(sql ~ ('' if lacking else ': already so'), info=true) -%}
    {{- return('') -}}
{%- endmacro %}
