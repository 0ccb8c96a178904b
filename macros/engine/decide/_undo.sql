{# The runs to undo: one, and with cascade those that began after it, except an undo of it. #}
{% macro _undone_runs(run, runs, cascade) -%}
    {%- set undone = [] -%}
    {%- for id, found in runs.items()
        if id == run or (cascade and found.started > runs[run].started and found.undo_of != run) -%}
        {%- do undone.append(id) -%}
    {%- endfor -%}
    {{- return(undone) -}}
{%- endmacro %}

{# The first commit in a table by the runs to undo; none if they did not write it. #}
{% macro _first_undone(table, undone) -%}
    {%- set found = namespace(first=none) -%}
    {%- for commit in table.tagged if commit.run in undone and not dbt_delta._is_upkeep(commit) -%}
        {%- set found.first = commit -%}
    {%- endfor -%}
    {{- return(found.first) -}}
{%- endmacro %}

{#
    What undoing runs means for a table: {action, version, keeps, reason}. The action is restore (to the version),
    drop, properties (the table is restored, but a killed call may not have set the properties to keep), or none. The
    reason says what would be lost. `first` is the first commit to undo; `comments` are versions by others that only
    set comments. What a later run to undo wrote on top of an undo is restored to the state before it.
#}
{% macro _undo_verdict(table, first, commits, run, about, undone, comments) -%}
    {%- set name, birth = dbt_delta._bare(table.relation), table.first -%}
    {%- if first is none -%}
        {%- set is_new = table.node is not none and birth.version == 0 and birth.time > about.time
            and (birth.run is none or birth.replaced) -%}
        {{- return(dbt_delta._verdict(reason=name ~ ' was created ' ~ dbt_delta._age(birth.time)
            ~ ' ago, after the run, by ' ~ dbt_delta._writer(birth) ~ ': the commits of the run are gone.'
            if is_new else none)) -}}
    {%- endif -%}
    {%- set again = namespace(version=none) -%}
    {%- for commit in commits if commit.version > first.version and not dbt_delta._is_upkeep(commit) -%}
        {%- if commit.undo_of == run and commit.operation == 'RESTORE' -%}
            {{- return(
                dbt_delta._verdict('properties', keeps=dbt_delta._left_to_set(commit, commits)) if again.version is none
                else dbt_delta._verdict('restore', version=again.version - 1)
            ) -}}
        {%- elif commit.undo_of != run and commit.run in undone -%}
            {%- set again.version = commit.version -%}
        {%- elif commit.undo_of != run and commit.version not in comments -%}
            {{- return(dbt_delta._verdict(
                reason=name ~ ': version ' ~ commit.version ~ ', ' ~ commit.operation ~ ' by ' ~ dbt_delta._writer(commit)
                ~ ' ' ~ dbt_delta._age(commit.time) ~ ' ago, would be lost.'
                ~ (' Set cascade: true to undo later runs, too.' if commit.run else '')
            )) -}}
        {%- endif -%}
    {%- endfor -%}
    {%- if first.version == 0 and first.replaced -%}
        {{- return(dbt_delta._verdict(
            reason=name ~ ' replaced a ' ~ first.replaced ~ ' in that run, which cannot be restored. Leave it out with '
            ~ "exclude: ['" ~ name ~ "']."
        )) -}}
    {%- elif first.version == 0 and first.operation == 'CONVERT' -%}
        {{- return(dbt_delta._verdict(
            reason=name ~ ' was converted to Delta in that run, and its rows are older: a drop would lose them. Leave it '
            ~ "out with exclude: ['" ~ name ~ "']."
        )) -}}
    {%- elif first.version == 0 -%}
        {{- return(dbt_delta._verdict('drop')) -}}
    {%- elif first.version <= birth.version -%}
        {{- return(dbt_delta._verdict(reason='version ' ~ (first.version - 1) ~ ' of ' ~ name ~ ' left the log.')) -}}
    {%- endif -%}
    {{- return(dbt_delta._verdict('restore', version=first.version - 1)) -}}
{%- endmacro %}

{# The properties that a restore keeps, except those that a later commit has set: they were kept, or chosen since. #}
{% macro _left_to_set(restored, commits) -%}
    {%- set left = dict(restored.kept) -%}
    {%- for commit in commits if commit.version > restored.version -%}
        {%- for key in dbt_delta._keys_set(commit) -%}{%- do left.pop(key, none) -%}{%- endfor -%}
    {%- endfor -%}
    {{- return(left) -}}
{%- endmacro %}

{% macro _verdict(action=none, version=none, keeps={}, reason=none) -%}
    {{- return({'action': action, 'version': version, 'keeps': keeps, 'reason': reason}) -}}
{%- endmacro %}
