{# When each run made its last commit in several tables, by the run's id. #}
{% macro _run_times(histories) -%}
    {%- set times = {} -%}
    {%- for commits in histories -%}
        {%- for commit in commits if commit.run is not none
            and (commit.run not in times or commit.get('written', commit.time) > times[commit.run]) -%}
            {%- do times.update({commit.run: commit.get('written', commit.time)}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(times) -}}
{%- endmacro %}

{# The run that a text means: its id, or the last one by the time of its last commit. #}
{% macro _run_id(run, runs, what) -%}
    {%- set matching = namespace(ids=[]) -%}
    {%- for id, time in runs.items() | sort(attribute='1', reverse=true) -%}
        {%- if run == 'last' or id.startswith(run | string) -%}
            {%- set matching.ids = matching.ids + [id] -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not matching.ids -%}
        {%- do dbt_delta._refuse(
            what ~ " has no commit of run '" ~ run ~ "'. "
            ~ ('The last runs are ' ~ (runs.items() | sort(attribute='1', reverse=true) | map(attribute='0') | list)[:5]
                | join(', ') if runs else 'No commit says which run made it') ~ '.'
        ) -%}
    {%- elif run != 'last' and matching.ids | length > 1 -%}
        {%- do dbt_delta._refuse(
            "Run '" ~ run ~ "' may be " ~ matching.ids | join(' or ') ~ '. Give more characters of its id.'
        ) -%}
    {%- endif -%}
    {{- return(matching.ids[0]) -}}
{%- endmacro %}

{# The commits that one run made in a table, newest first. #}
{% macro _commits_of_run(relation, run, commits, what) -%}
    {%- set id = dbt_delta._run_id(run, dbt_delta._run_times([commits]), what ~ ': ' ~ dbt_delta._named(relation)) -%}
    {%- set found = [] -%}
    {%- for commit in commits if commit.run == id -%}{%- do found.append(commit) -%}{%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{#
    Runs that changed something, by id: {time, written, started, undo_of, cascade, exclude}; `time` is that of the last
    commit, `written` the same in milliseconds, and the last three say what an undo undid.
#}
{% macro _runs_of(tables) -%}
    {%- set runs = {} -%}
    {%- for table in tables -%}
        {#- In a table without a model, a run of another project is not the last run of this one. -#}
        {%- for commit in table.tagged if not dbt_delta._is_upkeep(commit)
            and (table.node is not none or commit.project == project_name) -%}
            {%- set known = runs.get(commit.run) -%}
            {%- do runs.update({commit.run: {
                'time': [commit.time, known.time] | max if known else commit.time,
                'written': [commit.written, known.written] | max if known else commit.written,
                'started': known.started if known else commit.started,
                'undo_of': known.undo_of if known else commit.undo_of,
                'cascade': known.cascade if known else commit.undo_cascade,
                'exclude': known.exclude if known else commit.undo_exclude,
            }}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(runs) -}}
{%- endmacro %}
