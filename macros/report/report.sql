{# A run operation that writes one page about runs, models, tests and tables. #}
{% macro report(select=none, days=90, output=none) -%}
    {%- do dbt_delta._in_format('check_operation')('report') -%}
    {%- if adapter.dbt_delta_report is not defined -%}
        {%- do dbt_delta._refuse(
            'report needs the plugin of the Python package dbt_delta. Install it, and leave DBT_DELTA_PLUGIN unset.'
        ) -%}
    {%- elif days is not integer or days is boolean or days < 1 -%}
        {%- do dbt_delta._refuse("report has days '" ~ days ~ "'. Use a whole number of days from 1 on.") -%}
    {%- endif -%}
    {%- do print(adapter.dbt_delta_report(dbt_delta._report_facts(select, days), select, days, output)) -%}
{%- endmacro %}

{#
    What the tables say: {tables, commits, expectations, publish, problems}. `tables` are lines of maintenance_plan
    without partitions, with `versions` and `dead_bytes`; `commits` and `expectations` are lists by the node's id.
#}
{% macro _report_facts(select, days) -%}
    {%- set planned, tables = dbt_delta._plan(select, none, 'report'), [] -%}
    {%- for table in planned -%}{%- do tables.append(dbt_delta._reported(table)) -%}{%- endfor -%}
    {%- set since = modules.datetime.datetime.now(modules.pytz.utc).timestamp() * 1000 - days * 86400000 -%}
    {%- set found = dbt_delta._read_histories(planned, since | int) -%}
    {%- set commits, expectations = {}, {} -%}
    {%- for id, own in found.commits.items() -%}
        {%- set lines, judged, at, judgements = [], own + found.quarantines.get(id, []), {}, [] -%}
        {%- for commit in own -%}{%- do lines.append(dbt_delta._reported_commit(commit)) -%}{%- endfor -%}
        {%- for commit in judged -%}
            {%- do at.update({commit.time.isoformat(): commit.written // 1000}) -%}
        {%- endfor -%}
        {%- for line in dbt_delta._expectation_lines(judged) -%}
            {%- do judgements.append(dict(line, at=at[line.time])) -%}
        {%- endfor -%}
        {%- do commits.update({id: lines}) -%}
        {%- do expectations.update({id: judgements}) -%}
    {%- endfor -%}
    {{- return({
        'tables': tables, 'commits': commits, 'expectations': expectations, 'problems': found.problems,
        'publish': none if dbt_delta._publish_settings() is none
            else dbt_delta._published_lines(dbt_delta._publish_settings()),
        'erasure_folder': var('dbt_delta_erasure_folder', 'erasure'),
    }) -}}
{%- endmacro %}

{# A table of the plan. The values of partitions are rows' values, and stay out. #}
{% macro _reported(table) -%}
    {%- set line, steps = dbt_delta._plan_line(table), [] -%}
    {%- for step in line.steps -%}
        {%- do steps.append({'do': step.do, 'why': step.why, 'gain': step.gain}) -%}
    {%- endfor -%}
    {%- set known = {} if table.state is none else {
        'versions': table.state.commits | length, 'dead_bytes': dbt_delta._dead_bytes(table),
    } -%}
    {{- return(dict(line, steps=steps, partitions=line.partitions | length, **known)) -}}
{%- endmacro %}

{# A commit as the page has it: `is_whole` where it wrote all rows of the table. #}
{% macro _reported_commit(commit) -%}
    {%- set given = commit.parameters -%}
    {{- return(dict(
        {
            'version': commit.version, 'at': commit.written, 'operation': commit.operation, 'run': commit.run,
            'node': commit.node, 'started': commit.started,
            'moves_rows': dbt_delta._moves_rows(commit),
            'is_whole': 'AS SELECT' in commit.operation
                or (given.get('mode') == 'Overwrite' and given.get('predicate') in (none, '', '[]')),
        },
        **dbt_delta._commit_figures(commit)
    )) -}}
{%- endmacro %}
