{#
    {run, cascade, steps, reasons}: what undoing a run means for each table, and the reasons against it. With cascade
    the runs that began after it are undone, too.
#}
{% macro _undo_plan(run, tables, runs, cascade) -%}
    {%- set undone, restores, drops, reasons = dbt_delta._undone_runs(run, runs, cascade), [], [], [] -%}
    {%- set calls = {} -%}
    {%- for table in tables -%}
        {%- do calls.update({dbt_delta._bare(table.relation): {
            'table': table, 'run': run, 'about': runs[run], 'undone': undone,
        }}) -%}
    {%- endfor -%}
    {%- for found in dbt_delta._each(dbt_delta._undo_step, calls).values() -%}
        {%- if found.reason is not none -%}
            {%- do reasons.append(found.reason) -%}
        {%- elif found.step is not none -%}
            {%- do (drops if found.step.version is none else restores).append(found.step) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({
        'run': run, 'cascade': cascade, 'steps': restores + drops,
        'reasons': reasons + dbt_delta._readers_of_drops(drops),
    }) -}}
{%- endmacro %}

{# {step, reason}: what undoing runs means for a table, and the reason against it; both may be none. #}
{% macro _undo_step(table, run, about, undone) -%}
    {%- set relation, first = table.relation, dbt_delta._first_undone(table, undone) -%}
    {%- set name = dbt_delta._bare(relation) -%}
    {%- set history = none if first is none
        else dbt_delta._attempt('describe history ' ~ dbt_delta._named(relation)) -%}
    {%- if history is not none and history.problem -%}
        {{- return({
            'step': none, 'reason': 'the history of ' ~ name ~ ' cannot be read: ' ~ history.problem
                ~ " Leave it out with exclude: ['" ~ name ~ "'].",
        }) -}}
    {%- endif -%}
    {%- set commits = dbt_delta._commits_in(history.rows if history is not none else []) -%}
    {%- set comments = [] if first is none
        else dbt_delta._comment_versions(relation, commits, first.version, run, undone) -%}
    {%- set verdict = dbt_delta._undo_verdict(table, first, commits, run, about, undone, comments) -%}
    {%- set found = namespace(step=none, reason=verdict.reason) -%}
    {%- if verdict.action == 'drop' -%}
        {%- set found.step = dbt_delta._restore_step(relation, none, commits) -%}
    {%- elif verdict.action == 'properties' -%}
        {%- set lost = dbt_delta._lost_properties(relation, verdict.keeps) -%}
        {%- if lost -%}
            {%- set found.step = dict(
                dbt_delta._restore_step(relation, commits[0].version, commits),
                keeps=verdict.keeps, about='properties ' ~ lost | join(', ')
            ) -%}
        {%- endif -%}
    {%- elif verdict.action == 'restore' -%}
        {%- set found.reason = dbt_delta._out_of_reach(relation, verdict.version, commits, files=true) -%}
        {%- if not found.reason -%}
            {%- set found.step = dbt_delta._restore_step(relation, verdict.version, commits) -%}
        {%- endif -%}
    {%- endif -%}
    {{- return({'step': found.step, 'reason': found.reason}) -}}
{%- endmacro %}

{# Versions by others after one that only set comments, up to the first that did more or that undid the run. #}
{% macro _comment_versions(relation, commits, after, run, undone) -%}
    {%- set versions = [] -%}
    {%- for commit in commits if commit.version > after and not dbt_delta._is_upkeep(commit)
        and (commit.undo_of == run or commit.run not in undone) -%}
        {%- if commit.undo_of == run or not dbt_delta._is_comment(relation, commit) -%}
            {{- return(versions) -}}
        {%- endif -%}
        {%- do versions.append(commit.version) -%}
    {%- endfor -%}
    {{- return(versions) -}}
{%- endmacro %}

{#
    The reasons why tables cannot be dropped: readers see them, a shallow clone reads their files, or there is a pin. Tables
    of the list that read each other are dropped together; other views of them have no data to lose.
#}
{% macro _readers_of_drops(steps) -%}
    {%- set reasons, going = [], [] -%}
    {%- if not steps -%}{{- return(reasons) -}}{%- endif -%}
    {%- for step in steps -%}
        {%- do going.append(step.table | lower) -%}
        {%- for view in dbt_delta._readers_of(step.relation) -%}
            {%- do reasons.append(
                step.table ~ ' was created in that run, and readers see it through ' ~ view.schema ~ '.' ~ view.name
                ~ ': a drop would break that. Drop the view first, or leave the table out with exclude.'
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set tables = [] -%}
    {%- for table in dbt_delta._read_states(dbt_delta._catalog_tables([], steps | map(attribute='relation') | list))
        if table.state is not none and dbt_delta._bare(table.relation) | lower in going -%}
        {%- do tables.append(table) -%}
    {%- endfor -%}
    {%- for table in dbt_delta._with_times(tables) -%}
        {%- set readers = [] -%}
        {%- for claim in table.state.claims if dbt_delta._is_needed(claim, table.state) -%}
            {%- set reader = dbt_delta._bare(claim.table.relation) -%}
            {%- if reader | lower not in going -%}
                {%- do readers.append('its shallow clone ' ~ reader ~ ' reads its files') -%}
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
                ~ ': a drop would break that. Drop or copy it first, or leave the table out with exclude.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(reasons) -}}
{%- endmacro %}

{#
    What restoring a table to a version means: {relation, table, newest, at, version, keeps, action, about}. `newest`
    and its time `at` tell whether the table is still the same. RESTORE also restores the properties of that version:
    `keeps` are the present values on which later runs, feeds, readers and restores rely. A version of none drops the
    table.
#}
{% macro _restore_step(relation, version, commits) -%}
    {%- set seen = {
        'relation': relation, 'table': dbt_delta._bare(relation),
        'newest': commits[0].version, 'at': commits[0].time, 'version': version,
    } -%}
    {%- if version is none -%}
        {{- return(dict(seen, keeps={}, action='drop', about='the run created it')) -}}
    {%- endif -%}
    {%- set about = [] -%}
    {%- set old = dbt_delta._columns_of('select * from ' ~ dbt_delta._as_of(relation, version)) -%}
    {%- set new = dbt_delta._columns_of('select * from ' ~ dbt_delta._named(relation)) -%}
    {%- for change in dbt_delta._column_changes(old, new) -%}
        {%- do about.append('column ' ~ dbt_delta._schema_text(change)) -%}
    {%- endfor -%}
    {%- set restating = [] -%}
    {%- for commit in commits if commit.version > version
        and commit.operation.split(' ')[0] in ('SET', 'UNSET', 'CREATE', 'REPLACE', 'CLONE', 'RESTORE') -%}
        {%- do restating.append(commit.version) -%}
    {%- endfor -%}
    {%- if restating -%}{%- do about.append('properties and comment of version ' ~ version) -%}{%- endif -%}
    {{- return(dict(
        seen, keeps=dbt_delta._kept_properties(relation, commits),
        action='restore', about=about | join(', '),
    )) -}}
{%- endmacro %}
