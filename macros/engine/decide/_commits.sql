{# Operations that change nothing for readers. #}
{% macro _upkeep_operations() -%}
    {{- return([
        'OPTIMIZE', 'REORG', 'VACUUM START', 'VACUUM END', 'COMPUTE STATS', 'UPGRADE PROTOCOL', 'ROW TRACKING BACKFILL',
    ]) -}}
{%- endmacro %}

{# The first of these metrics that a commit has, as a number, or none. #}
{% macro _metric(commit, names) -%}
    {%- for name in names if name in commit.metrics -%}{{- return(commit.metrics[name] | int) -}}{%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{# What a commit counts: {inserted, updated, deleted, files, bytes}; none where Delta does not say. #}
{% macro _commit_figures(commit) -%}
    {%- set writes = commit.operation != 'MERGE' and 'numOutputRows' in commit.metrics -%}
    {{- return({
        'inserted': dbt_delta._metric(commit, ['numTargetRowsInserted'] + (['numOutputRows'] if writes else [])),
        'updated': dbt_delta._metric(commit, ['numTargetRowsUpdated', 'numUpdatedRows']),
        'deleted': dbt_delta._metric(commit, ['numTargetRowsDeleted', 'numDeletedRows']),
        'files': dbt_delta._metric(
            commit, ['numTargetFilesAdded', 'numAddedFiles', 'numFiles', 'numRestoredFiles']
        ),
        'bytes': dbt_delta._metric(
            commit, ['numTargetBytesAdded', 'numAddedBytes', 'numOutputBytes', 'restoredFilesSize']
        ),
    }) -}}
{%- endmacro %}

{# What became of the rows of runs, by expectation: one of a run's commits counts, of its table or its quarantine. #}
{% macro _expectation_lines(commits) -%}
    {%- set seen, lines = [], [] -%}
    {%- for commit in commits if commit.expectations and (commit.run, commit.expectations.batch) not in seen -%}
        {%- do seen.append((commit.run, commit.expectations.batch)) -%}
        {%- for name, one in commit.expectations.expectations.items() -%}
            {%- do lines.append({
                'time': commit.time.isoformat(), 'run': commit.run, 'batch': commit.expectations.batch or none,
                'expectation': name, 'action': one.action, 'broken': one.rows, 'rows': commit.expectations.rows,
                'kept': commit.expectations.kept, 'quarantined': commit.expectations.quarantined,
                'dropped': commit.expectations.dropped,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(lines | sort(attribute='time', reverse=true)) -}}
{%- endmacro %}

{# Whether the run and batch that a quarantine's commit is of have written their table. #}
{% macro _has_written(commits, of) -%}
    {%- for commit in commits if commit.run == of.run and commit.expectations
        and commit.expectations.get('batch') == of.expectations.get('batch') -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# Whether a commit may have changed rows. #}
{% macro _moves_rows(commit) -%}
    {{- return(commit.operation not in dbt_delta._upkeep_operations() + [
        'CLUSTER BY', 'SET TBLPROPERTIES', 'UNSET TBLPROPERTIES', 'CHANGE COLUMN', 'CHANGE COLUMNS',
        'ADD COLUMNS', 'RENAME COLUMN', 'ADD CONSTRAINT', 'DROP CONSTRAINT',
    ]) -}}
{%- endmacro %}

{# Whether a commit after the low version, up to the high one, may have changed rows. #}
{% macro _move_rows(commits, low, high) -%}
    {%- for commit in commits if low < commit.version <= high and dbt_delta._moves_rows(commit) -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# Whether a commit after a version may have changed what readers see. #}
{% macro _is_changed(commits, seen) -%}
    {%- for commit in commits if seen < commit.version and dbt_delta._changes_view(commit) -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{#
    Whether a table was dropped and created again since its version `seen` was written at the time `written`. Commits
    newest first; those of old files may be missing.
#}
{% macro _is_made_anew(commits, seen, written) -%}
    {%- for commit in commits if commit.version == seen -%}
        {{- return(written is not none and commit.written | string != written | string) -}}
    {%- endfor -%}
    {{- return(commits | length > 0 and commits[0].version < seen) -}}
{%- endmacro %}

{# Whether a commit may have changed what readers see, such as the names of columns. #}
{% macro _changes_view(commit) -%}
    {{- return(dbt_delta._moves_rows(commit) or commit.operation == 'RENAME COLUMN') -}}
{%- endmacro %}

{# The erasure that a commit after a version belongs to; none if there is none. #}
{% macro _erased_since(commits, version) -%}
    {%- for commit in commits if commit.erased and (version is none or commit.version > version) -%}
        {{- return(commit.erased) -}}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{#
    Whether --empty or --sample may have left out rows of a table since its version `seen`: it was not built from scratch
    after such a commit. Commits newest first.
#}
{% macro _is_limited(commits, seen) -%}
    {%- for commit in commits if seen is none or seen < commit.version -%}
        {%- if commit.limited_by -%}{{- return(true) -}}{%- endif -%}
        {%- if (commit.operation or '').endswith('TABLE AS SELECT') -%}{{- return(false) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# Whether others may have changed what readers see after the last commit of a run that did; commits newest first. #}
{% macro _is_overwritten(commits, run) -%}
    {%- set others = [] -%}
    {%- for commit in commits if dbt_delta._changes_view(commit) -%}
        {%- if commit.run == run -%}{{- return(others | length > 0) -}}{%- endif -%}
        {%- do others.append(commit.version) -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# Whether a run was the last one to change what readers see, as far as the commits say, newest first. #}
{% macro _is_own(commits, run) -%}
    {%- for commit in commits if dbt_delta._changes_view(commit) -%}
        {{- return(commit.run == run) -}}
    {%- endfor -%}
    {{- return(run in commits | map(attribute='run')) -}}
{%- endmacro %}

{#
    Whether a name may belong to another column after these commits although no file was written: with column mapping,
    columns are renamed and dropped without a write, and RESTORE brings back the names of another version.
#}
{% macro _reuses_names(commits, low, high) -%}
    {%- set at = namespace(renames=false, restores=false, any=false) -%}
    {%- for commit in commits -%}
        {%- set is_between = low < commit.version <= high -%}
        {%- if commit.operation in ('RENAME COLUMN', 'DROP COLUMNS') -%}
            {%- set at.any, at.renames = true, at.renames or is_between -%}
        {%- elif commit.operation == 'RESTORE' -%}
            {%- set at.restores = at.restores or is_between -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(at.renames or at.restores and at.any) -}}
{%- endmacro %}

{# The properties that a commit set or unset. #}
{% macro _keys_set(commit) -%}
    {{- return(fromjson(commit.parameters.get('properties') or '[]', []) | list) -}}
{%- endmacro %}

{# Whether a commit changes nothing for readers. #}
{% macro _is_upkeep(commit) -%}
    {%- if commit.operation not in ('SET TBLPROPERTIES', 'UNSET TBLPROPERTIES') -%}
        {{- return(commit.operation in dbt_delta._upkeep_operations()) -}}
    {%- endif -%}
    {%- set harmless = ['comment'] + dbt_delta._retention_properties().keys() | list -%}
    {%- for key in dbt_delta._keys_set(commit)
        if key not in harmless and not key.startswith('dbt_delta.') -%}
        {{- return(false) -}}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}

{% macro _writer(commit) -%}
    {{- return(
        'a writer other than dbt' if commit.run is none
        else 'run ' ~ commit.run[:8] ~ (' (' ~ commit.node ~ ')' if commit.node else '')
    ) -}}
{%- endmacro %}
