{# The commits of one table, or all commits of one run, in the terminal or as JSON. #}
{% macro history(model=none, run=none, limit=20, output='text') -%}
    {%- if (model is none) == (run is none) -%}
        {%- do dbt_delta._refuse(
            'history has model ' ~ model ~ ' and run ' ~ run ~ '. Use exactly one of them, as in '
            ~ "--args '{model: orders}' or --args '{run: last}'."
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._check_choice('history: output', output, ['text', 'json']) -%}
    {%- if model is not none -%}
        {%- set relation = dbt_delta._relation_named(model, 'history') -%}
        {%- do dbt_delta._delta_table(relation, 'history') -%}
        {%- set lines = [] -%}
        {%- for commit in dbt_delta._commits(relation, limit) -%}
            {%- do lines.append(dbt_delta._history_line(relation, commit)) -%}
        {%- endfor -%}
    {%- else -%}
        {%- set lines = dbt_delta._run_lines(run) -%}
    {%- endif -%}
    {%- if output == 'json' -%}
        {%- do print(tojson(lines)) -%}
    {%- else -%}
        {%- set shown = [] -%}
        {%- for line in lines -%}{%- do shown.append(dict(line, run=(line.run or '')[:8] or none)) -%}{%- endfor -%}
        {%- do dbt_delta._print_table(
            (['table'] if run is not none else [])
            + ['version', 'age', 'operation', 'inserted', 'updated', 'deleted', 'files', 'bytes', 'node', 'run'],
            shown
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# The commits of a run: last, an invocation id or its beginning. Refuses a run without commits in this project. #}
{% macro _run_lines(run) -%}
    {%- do dbt_delta._in_format('check_operation')('history of a run') -%}
    {%- set found = dbt_delta._run_tables() -%}
    {%- for line in found.lost -%}{%- do log(line ~ '.', info=true) -%}{%- endfor -%}
    {%- set wanted = dbt_delta._run_id(
        run, dbt_delta._run_times(found.tables | map(attribute='tagged')), 'history: this project'
    ) -%}
    {%- set lines = [] -%}
    {%- for table in found.tables if wanted in table.tagged | map(attribute='run') -%}
        {%- for commit in dbt_delta._commits(table.relation) if commit.run == wanted -%}
            {%- do lines.append(dbt_delta._history_line(table.relation, commit)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(lines | sort(attribute='time', reverse=true)) -}}
{%- endmacro %}

{% macro _history_line(relation, commit) -%}
    {{- return(dict(
        {
            'table': dbt_delta._bare(relation),
            'version': commit.snapshot | string if commit.get('snapshot') is not none else commit.version,
            'time': commit.time.isoformat(),
            'age': dbt_delta._age(commit.time),
            'operation': commit.operation,
            'node': commit.node,
            'run': commit.run,
        },
        **dbt_delta._commit_figures(commit)
    )) -}}
{%- endmacro %}
