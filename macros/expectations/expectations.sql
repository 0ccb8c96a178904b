{# What became of the rows of a model's runs, by expectation, in the terminal or as JSON. #}
{% macro expectations(model, limit=20, output='text') -%}
    {%- do dbt_delta._check_choice('expectations: output', output, ['text', 'json']) -%}
    {%- set relation = dbt_delta._relation_named(model, 'expectations') -%}
    {%- do dbt_delta._delta_table(relation, 'expectations') -%}
    {%- set commits, seen, lines = dbt_delta._commits(relation, limit), [], [] -%}
    {%- set quarantine = dbt_delta._quarantine_of(relation) -%}
    {%- if dbt_delta._is_there(quarantine, dbt_delta._schemas()) -%}
        {#- A run that writes nothing into the table has its numbers there. -#}
        {%- set commits = commits + dbt_delta._commits(quarantine, limit) -%}
    {%- endif -%}
    {%- for commit in commits if commit.expectations and (commit.run, commit.expectations.batch) not in seen -%}
        {%- do seen.append((commit.run, commit.expectations.batch)) -%}
        {%- for name, one in commit.expectations.expectations.items() -%}
            {%- do lines.append({
                'time': commit.time.isoformat(), 'age': dbt_delta._age(commit.time), 'run': commit.run,
                'batch': commit.expectations.batch or none, 'expectation': name, 'action': one.action,
                'broken': one.rows, 'rows': commit.expectations.rows, 'kept': commit.expectations.kept,
                'quarantined': commit.expectations.quarantined, 'dropped': commit.expectations.dropped,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set lines = lines | sort(attribute='time', reverse=true) -%}
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
