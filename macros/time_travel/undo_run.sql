{#
    A run operation that brings every table that a run wrote back to its state before the run: it restores the table,
    or drops it if the run created it. All tables are checked first; if one cannot be undone, nothing is changed. A
    second call finishes a killed one. Undoing an undo is a redo.
#}
{% macro undo_run(run, dry_run=false, cascade=false, exclude=[]) -%}
    {%- do dbt_delta._in_format('check_operation')('undo_run') -%}
    {%- set found = dbt_delta._run_tables(exclude) -%}
    {%- set tables = found.tables -%}
    {%- set runs = dbt_delta._runs_of(tables) -%}
    {%- set times = {} -%}
    {%- for id, found in runs.items() -%}{%- do times.update({id: found.written}) -%}{%- endfor -%}
    {%- set id = dbt_delta._run_id(run, times, 'undo_run: this project') -%}
    {%- set plan = none -%}
    {%- if run == 'last' and runs[id].undo_of in runs -%}
        {#- The last run was an undo. If it was killed half-way, this call finishes it, without what it left out. -#}
        {%- set left_out = runs[id].exclude -%}
        {%- set begun = dbt_delta._undo_plan(
            runs[id].undo_of, dbt_delta._without_tables(tables, left_out), runs, runs[id].cascade
        ) -%}
        {%- if begun.steps or begun.reasons -%}
            {%- set plan = dict(begun, exclude=dbt_delta._names(exclude) + left_out) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set plan = plan or dict(dbt_delta._undo_plan(id, tables, runs, cascade), exclude=dbt_delta._names(exclude)) -%}
    {%- for line in found.lost -%}{%- do print(line ~ '.') -%}{%- endfor -%}
    {%- if plan.reasons -%}
        {%- do dbt_delta._refuse(
            'undo_run of ' ~ plan.run ~ ' would lose more than that run wrote. Nothing was changed.\n  '
            ~ plan.reasons | join('\n  ')
        ) -%}
    {%- elif not plan.steps -%}
        {%- do print('Run ' ~ plan.run ~ ' is already undone.') -%}
        {{- return(dbt_delta._refuse_broken(found.broken)) -}}
        {%- endif -%}
    {%- do print('Run ' ~ plan.run ~ ' of ' ~ runs[plan.run].time.isoformat(' ')[:19] ~ ':') -%}
    {%- do dbt_delta._print_steps(plan.steps) -%}
    {%- if dry_run -%}
        {%- do print('Dry run: nothing was changed.') -%}
        {{- return(dbt_delta._refuse_broken(found.broken)) -}}
    {%- endif -%}
    {%- do dbt_delta._take_steps(plan.steps, {
        'dbt_undo_of': plan.run, 'dbt_undo_cascade': plan.cascade, 'dbt_undo_exclude': plan.exclude,
    }) -%}
    {%- do print('Undone: ' ~ plan.steps | length ~ ' tables.') -%}
    {%- do dbt_delta._refuse_broken(found.broken) -%}
{%- endmacro %}

{# Ends with an error if logs could not be read. #}
{% macro _refuse_broken(tables) -%}
    {%- set names = [] -%}
    {%- for table in tables -%}{%- do names.append(dbt_delta._bare(table.relation)) -%}{%- endfor -%}
    {%- if names -%}
        {%- do dbt_delta._refuse('undo_run did not look at ' ~ names | join(', ') ~ '. The lines above say why.') -%}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}
