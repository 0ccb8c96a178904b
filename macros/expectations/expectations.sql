{# What became of the rows of a model's runs, by expectation, in the terminal or as JSON. #}
{% macro expectations(model, limit=20, output='text') -%}
    {%- do dbt_delta._check_choice('expectations: output', output, ['text', 'json']) -%}
    {%- set relation = dbt_delta._relation_named(model, 'expectations') -%}
    {%- do dbt_delta._delta_table(relation, 'expectations') -%}
    {%- set commits, quarantine = dbt_delta._commits(relation, limit), dbt_delta._quarantine_of(relation) -%}
    {%- if dbt_delta._is_there(quarantine, dbt_delta._schemas()) -%}
        {#- A run that writes nothing into the table has its numbers there. -#}
        {%- set commits = commits + dbt_delta._commits(quarantine, limit) -%}
    {%- endif -%}
    {%- set times, lines = {}, [] -%}
    {%- for commit in commits -%}{%- do times.update({commit.time.isoformat(): commit.time}) -%}{%- endfor -%}
    {%- for line in dbt_delta._expectation_lines(commits) -%}
        {%- do lines.append(dict(line, age=dbt_delta._age(times[line.time]))) -%}
    {%- endfor -%}
    {%- if output == 'json' -%}
        {%- do print(tojson(lines)) -%}
    {%- else -%}
        {%- set shown = [] -%}
        {%- for line in lines -%}{%- do shown.append(dict(line, run=line.run[:8])) -%}{%- endfor -%}
        {%- do dbt_delta._print_table(
            ['age', 'run'] + (['batch'] if lines | selectattr('batch') | list else [])
            + ['expectation', 'action', 'broken', 'rows', 'kept', 'quarantined', 'dropped'], shown
        ) -%}
    {%- endif -%}
{%- endmacro %}
