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
    {%- for found in dbt_delta._read_states(dbt_delta._catalog_tables([], [relation]))
        if dbt_delta._bare(found.relation) | lower == dbt_delta._bare(relation) | lower -%}
        {%- if found.state is none -%}
            {%- do dbt_delta._refuse('vacuum ' ~ dbt_delta._bare(relation) ~ ': ' ~ dbt_delta._log_problem(found)) -%}
        {%- endif -%}
        {%- set table = dbt_delta._with_times([found])[0] -%}
        {%- set table = dict(table, floor=dbt_delta._floor(table)) -%}
        {%- set hours = dbt_delta._vacuum_hours(table, retention_hours) -%}
        {%- set line = 'vacuum ' ~ dbt_delta._bare(relation) ~ ', files that left it more than '
            ~ dbt_delta._hours_text(hours) ~ ' ago' -%}
        {%- if dry_run and not table.floor.blocked -%}
            {%- set paths = dbt_delta._removable(table, hours) -%}
            {%- do log(line ~ ' (dry run): ' ~ dbt_delta._files(paths | length), info=true) -%}
            {%- for path in paths -%}{%- do log('  ' ~ path, info=true) -%}{%- endfor -%}
        {%- else -%}
            {%- set taken = dbt_delta._vacuum(table, hours, mode) -%}
            {%- if taken.problem -%}
                {%- do dbt_delta._refuse('vacuum of ' ~ dbt_delta._bare(relation) ~ ': ' ~ taken.problem) -%}
            {%- endif -%}
            {%- do log(line ~ ': ' ~ taken.done, info=true) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return('') -}}
{%- endmacro %}
