{#
    A run operation by which every table that a run wrote is what it was before: restored, or dropped
    where the run created it. All tables are looked at first; one obstacle, and nothing is done.
    A second call finishes what a killed one began; undoing an undo is redo.
#}
{% macro undo_run(run, dry_run=false, cascade=false, exclude=[]) -%}
    {%- set found = dbt_delta._run_tables(exclude) -%}
    {%- set tables = found.tables -%}
    {%- set runs = dbt_delta._runs_of(tables) -%}
    {%- set times = {} -%}
    {%- for id, found in runs.items() -%}{%- do times.update({id: found.time}) -%}{%- endfor -%}
    {%- set id = dbt_delta._run_id(run, times, 'undo_run: this project') -%}
    {%- set plan = none -%}
    {%- if run == 'last' and runs[id].undo_of in runs -%}
        {#- The last run undid another. If it was killed half-way, this call finishes it. -#}
        {%- set begun = dbt_delta._undo_plan(runs[id].undo_of, tables, runs, runs[id].cascade) -%}
        {%- if begun.steps or begun.reasons -%}
            {%- set plan = begun -%}
        {%- endif -%}
    {%- endif -%}
    {%- set plan = plan or dbt_delta._undo_plan(id, tables, runs, cascade) -%}
    {%- for line in found.lost -%}{%- do print(line ~ '.') -%}{%- endfor -%}
    {%- if plan.reasons -%}
        {%- do dbt_delta._refuse(
            'undo_run of ' ~ plan.run ~ ' would lose more than that run wrote. Nothing was changed.\n  '
            ~ plan.reasons | join('\n  ')
        ) -%}
    {%- elif not plan.steps -%}
        {%- do print('Run ' ~ plan.run ~ ' is undone already.') -%}
        {{- return('') -}}
    {%- endif -%}
    {%- do print('Run ' ~ plan.run ~ ' of ' ~ runs[plan.run].time.isoformat(' ')[:19] ~ ':') -%}
    {%- do dbt_delta._print_steps(plan.steps) -%}
    {%- if dry_run -%}
        {%- do print('Dry run: nothing was changed.') -%}
        {{- return('') -}}
    {%- endif -%}
    {%- call dbt_delta._tagging({'dbt_undo_of': plan.run, 'dbt_undo_cascade': plan.cascade}) -%}
        {%- for step in plan.steps -%}{%- do dbt_delta._take_step(step) -%}{%- endfor -%}
    {%- endcall -%}
    {%- do print('Undone: ' ~ plan.steps | length ~ ' tables.') -%}
{%- endmacro %}

{#
    {run, cascade, steps, reasons}: what undoing a run, with cascade also those that began after it,
    means for each table, and why it cannot be.
#}
{% macro _undo_plan(run, tables, runs, cascade) -%}
    {%- set plan = {'run': run, 'cascade': cascade, 'steps': [], 'reasons': []} -%}
    {%- set undone = [] -%}
    {%- for id, found in runs.items()
        if id == run or (cascade and found.started > runs[run].started and found.undo_of != run) -%}
        {%- do undone.append(id) -%}
    {%- endfor -%}
    {%- set drops = [] -%}
    {%- for table in tables -%}
        {%- set step = dbt_delta._undo_step(table, run, runs[run], undone, plan.reasons) -%}
        {%- if step is not none -%}
            {%- do (drops if step.version is none else plan.steps).append(step) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do plan.reasons.extend(dbt_delta._readers_of_drops(drops)) -%}
    {%- do plan.steps.extend(drops) -%}
    {{- return(plan) -}}
{%- endmacro %}

{#
    Why tables cannot be dropped: a shallow clone has files of theirs, or somebody has set a pin. Those of them
    that read each other go together; views of them have nothing that could be lost.
#}
{% macro _readers_of_drops(steps) -%}
    {%- set reasons, going = [], [] -%}
    {%- if not steps -%}{{- return(reasons) -}}{%- endif -%}
    {%- for step in steps -%}{%- do going.append(step.table | lower) -%}{%- endfor -%}
    {%- set tables = dbt_delta._catalog_tables([], steps | map(attribute='relation') | list) -%}
    {%- do dbt_delta._read_states(tables) -%}
    {%- for table in tables if table.state is not none and dbt_delta._bare(table.relation) | lower in going -%}
        {%- set readers = [] -%}
        {%- for claim in table.state.claims if dbt_delta._is_needed(claim, table.state) -%}
            {%- set reader = dbt_delta._bare(claim.table.relation) -%}
            {%- if reader | lower not in going -%}
                {%- do readers.append('its shallow clone ' ~ reader ~ ' has files of it') -%}
            {%- endif -%}
        {%- endfor -%}
        {%- for pin in dbt_delta._pins(table) if 'zone' not in pin -%}
            {%- do readers.append(
                pin.who ~ ' ' ~ (pin.unknown if pin.get('unknown') else 'reads ' ~ dbt_delta._pin_text(pin))
            ) -%}
        {%- endfor -%}
        {%- if readers -%}
            {%- do reasons.append(
                dbt_delta._bare(table.relation) ~ ' was created in that run, and ' ~ readers | unique | join(', ')
                ~ ': a drop would break that. Drop or copy it first, or leave the table out by exclude.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(reasons) -}}
{%- endmacro %}

{# The step of one table, or none; adds to the reasons what stands in the way. #}
{% macro _undo_step(table, run, about, undone, reasons) -%}
    {%- set relation = table.relation -%}
    {%- set name = dbt_delta._bare(relation) -%}
    {%- set found = namespace(first=none) -%}
    {%- for commit in table.tagged if commit.run in undone and not dbt_delta._is_upkeep(commit) -%}
        {%- set found.first = commit -%}
    {%- endfor -%}
    {%- set first, birth = found.first, table.first -%}
    {%- if first is none -%}
        {%- if table.node is not none and birth.version == 0 and birth.time > about.time
            and (birth.run is none or birth.replaced) -%}
            {%- do reasons.append(
                name ~ ' was created ' ~ dbt_delta._age(birth.time) ~ ' ago, after the run, by '
                ~ dbt_delta._writer(birth) ~ ': what the run wrote there is gone.'
            ) -%}
        {%- endif -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set commits = dbt_delta._commits(relation) -%}
    {%- for commit in commits if commit.version > first.version and not dbt_delta._is_upkeep(commit) -%}
        {%- if commit.undo_of == run -%}
            {#- Undone before; a killed call may not have come to the properties. -#}
            {%- set lost = dbt_delta._lost_properties(relation, commit.kept) -%}
            {%- if lost -%}
                {%- set step = dbt_delta._restore_step(relation, commits[0].version, commits) -%}
                {%- do step.update({'keeps': commit.kept, 'about': 'properties ' ~ lost | join(', ')}) -%}
                {{- return(step) -}}
            {%- endif -%}
            {{- return(none) -}}
        {%- elif commit.run not in undone and not dbt_delta._is_comment(relation, commit) -%}
            {%- do reasons.append(
                name ~ ': version ' ~ commit.version ~ ', ' ~ commit.operation ~ ' by ' ~ dbt_delta._writer(commit)
                ~ ' ' ~ dbt_delta._age(commit.time) ~ ' ago, would be lost.'
                ~ (' With cascade: true later runs are undone too.' if commit.run else '')
            ) -%}
            {{- return(none) -}}
        {%- endif -%}
    {%- endfor -%}
    {%- if first.version == 0 -%}
        {%- if first.replaced -%}
            {%- do reasons.append(
                name ~ ' replaced a ' ~ first.replaced ~ ' in that run, which cannot be brought back. Leave it out by '
                ~ "exclude: ['" ~ name ~ "']."
            ) -%}
            {{- return(none) -}}
        {%- endif -%}
        {{- return(dbt_delta._restore_step(relation, none, commits)) -}}
    {%- endif -%}
    {%- set problem = 'version ' ~ (first.version - 1) ~ ' of ' ~ name ~ ' left the log.'
        if first.version <= birth.version
        else dbt_delta._out_of_reach(relation, first.version - 1, commits, files=true) -%}
    {%- if problem -%}
        {%- do reasons.append(problem) -%}
        {{- return(none) -}}
    {%- endif -%}
    {{- return(dbt_delta._restore_step(relation, first.version - 1, commits)) -}}
{%- endmacro %}
