{# A run operation that restores a table to a version, as a new version; it rewrites no data. #}
{% macro restore(model, to='previous', dry_run=false) -%}
    {%- set relation = dbt_delta._relation_named(model, 'restore') -%}
    {%- do dbt_delta._delta_table(relation, 'restore') -%}
    {%- set commits = dbt_delta._commits(relation) -%}
    {%- set version = dbt_delta._version_named(relation, to, commits, 'restore: to') -%}
    {%- if version == commits[0].version -%}
        {%- do print(dbt_delta._named(relation) ~ ' is already at version ' ~ version ~ '.') -%}
        {{- return('') -}}
    {%- endif -%}
    {%- do dbt_delta._reach(relation, version, commits, 'restore', files=true) -%}
    {%- set step = dbt_delta._restore_step(relation, version, commits) -%}
    {%- do dbt_delta._print_steps([step]) -%}
    {%- if dry_run -%}
        {%- do print('Dry run: nothing was changed.') -%}
    {%- else -%}
        {%- do dbt_delta._take_step(step) -%}
        {%- do print('Done: ' ~ step.table ~ ' is at version ' ~ version ~ ' again.') -%}
    {%- endif -%}
{%- endmacro %}
