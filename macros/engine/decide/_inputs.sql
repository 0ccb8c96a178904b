{#
    What a table says that was read of its inputs, from its commits, newest first: {inputs, carrier, since}, or none. The
    commit of the rows says it; `since` is the one that its run went on from. A RESTORE goes back to what the restored version said. `carrier` is the commit since
    which it holds; no two states of the table have the same one. What others write does not matter, unless it makes the
    table anew, or goes back while a run writes; neither may the model write rows without saying what it has read, except
    in its hooks. `node` is the model's id.
#}
{% macro _watermark_in(commits, node) -%}
    {%- set at = namespace(version=none, carrier=none) -%}
    {%- for commit in commits if at.version is none or commit.version <= at.version -%}
        {%- set carrier = commit.version if at.carrier is none else at.carrier -%}
        {%- if commit.inputs -%}
            {{- return(
                none if dbt_delta._is_overtaken(commit, commits)
                else {'inputs': commit.inputs, 'carrier': carrier, 'since': commit.carrier}
            ) -}}
        {%- elif commit.operation == 'RESTORE' -%}
            {%- set at.version, at.carrier = dbt_delta._restored_version(commit, commits), carrier -%}
            {%- if at.version is none -%}{{- return(none) -}}{%- endif -%}
        {%- elif dbt_delta._makes_anew(commit) or (commit.node == node and not commit.is_hook and dbt_delta._moves_rows(commit)
                and commit.operation != 'DROP COLUMNS') -%}
            {{- return(none) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{% macro _makes_anew(commit) -%}
    {{- return(commit.operation.split(' ')[0] in ('CREATE', 'REPLACE', 'CLONE', 'CONVERT')) -}}
{%- endmacro %}

{# Whether the table was restored or made anew between the look of a commit's run at it and the commit. #}
{% macro _is_overtaken(commit, commits) -%}
    {%- for other in commits if commit.carrier is not none and commit.carrier < other.version < commit.version
        and (other.operation == 'RESTORE' or dbt_delta._makes_anew(other)) -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# The version that a RESTORE went back to, or none if the commits do not say. #}
{% macro _restored_version(commit, commits) -%}
    {%- set version, time = commit.parameters.get('version'), commit.parameters.get('timestamp') -%}
    {%- if version is not none and version | string != '' -%}{{- return(version | int) -}}{%- endif -%}
    {{- return(none) -}}
{%- endmacro %}

{#
    Why a table cannot go on from what it says that it has read of an input, or none. `ids` are those of the input's
    commits now, `newest` its version.
#}
{% macro _gap_before(read, seen, ids, newest) -%}
    {{- return(
        'the history of the table does not say what was read' if read is none
        else 'the table does not have its rows yet' if seen is none
        else none if seen.version < 0
        else 'it is another table than the one that was read'
            if seen.version > newest or ids.get(seen.version, seen.id) != seen.id
        else 'its log no longer has version ' ~ seen.version if seen.version not in ids
        else none
    ) -}}
{%- endmacro %}

{# Why rows cannot be followed through the commits of an input after one version, up to another, or none. #}
{% macro _gap_between(commits, from, to) -%}
    {%- set versions = commits | map(attribute='version') | select('gt', from) | select('le', to) | list -%}
    {{- return(
        'its log no longer has the commits after version ' ~ from if versions | length < to - from
        else 'columns were renamed or dropped after version ' ~ from
            if dbt_delta._reuses_names(commits, from, to)
        else none
    ) -}}
{%- endmacro %}

{#
    Why new rows of an input cannot be told after a version, or none: a RESTORE that only put files back brings rows
    that count as added, and may have been read before. Without metrics a commit does not say what it did.
#}
{% macro _gap_of_restore(commits, from, to) -%}
    {%- for commit in commits if from < commit.version <= to and commit.operation == 'RESTORE'
        and commit.metrics.get('numRestoredFiles', 1) | int > 0 and commit.metrics.get('numRemovedFiles', 0) | int == 0 -%}
        {{- return('its version ' ~ commit.version ~ ' restored rows, which may have been read before they went') -}}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{# Whether a commit only adds rows, only removes some, or does both; see _commit_kinds_sql. #}
{% macro _skipped_versions(kinds, input) -%}
    {%- set skipped = [] -%}
    {%- for kind in kinds if kind.removes -%}
        {%- if not input.skip_change_commits and not (input.ignore_deletes and not kind.adds) -%}
            {%- do dbt_delta._refuse(
                'new_rows of ' ~ dbt_delta._named(input.relation) ~ ': version ' ~ kind.version ~ ' '
                ~ ('changes' if kind.adds else 'deletes') ~ ' rows, but new_rows gives only rows that were added. '
                ~ 'Nothing was written. Use new_changes, or '
                ~ ('' if kind.adds else 'ignore_deletes=true or ')
                ~ 'skip_change_commits=true if that change does not matter here.'
            ) -%}
        {%- endif -%}
        {%- do skipped.append(kind.version) -%}
    {%- endfor -%}
    {{- return(skipped) -}}
{%- endmacro %}
