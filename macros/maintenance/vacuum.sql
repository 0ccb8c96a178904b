{#
    Removes the files that left a table so long ago that no reader needs them; see _floor. Fewer hours than that, or
    than 168, work only for tables that the variable dbt_delta_short_retention names. VACUUM reads its hours from a
    property of the table, which is restored afterwards.
#}
{% macro vacuum(relation, retention_hours=none, mode='full', dry_run=false) -%}
    {%- if not execute -%}{{- return('') -}}{%- endif -%}
    {%- set relation = dbt_delta._relation_given(relation, 'vacuum') -%}
    {%- do dbt_delta._check_choice('vacuum: mode', mode, ['full', 'lite']) -%}
    {%- if retention_hours is not none and (retention_hours is not number or retention_hours < 0) -%}
        {%- do dbt_delta._refuse("vacuum has retention_hours '" ~ retention_hours ~ "'. Use a number of hours.") -%}
    {%- endif -%}
    {%- do dbt_delta._delta_table(relation, 'vacuum') -%}
    {%- set table, name = dbt_delta._read_table(relation), dbt_delta._bare(relation) -%}
    {%- if table is none or table.state is none -%}
        {%- do dbt_delta._refuse('vacuum ' ~ name ~ ': '
            ~ ('the catalog has no location of it' if table is none else dbt_delta._log_problem(table))) -%}
    {%- endif -%}
    {%- set hours = dbt_delta._vacuum_hours(table, retention_hours) -%}
    {%- set line = 'vacuum ' ~ name ~ ', files that left it more than ' ~ dbt_delta._hours_text(hours) ~ ' ago' -%}
    {%- if dry_run and not table.floor.blocked -%}
        {%- set paths = dbt_delta._removable(table, hours) -%}
        {%- do log(line ~ ' (dry run): ' ~ dbt_delta._files(paths | length), info=true) -%}
        {%- for path in paths -%}{%- do log('  ' ~ path, info=true) -%}{%- endfor -%}
    {%- else -%}
        {%- set taken = dbt_delta._vacuum(table, hours, mode) -%}
        {%- if taken.problem -%}{%- do dbt_delta._refuse('vacuum of ' ~ name ~ ': ' ~ taken.problem) -%}{%- endif -%}
        {%- do log(line ~ ': ' ~ taken.done, info=true) -%}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}
