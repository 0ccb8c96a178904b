{# Operations of commits that change nothing which anybody reads. #}
{% macro _upkeep_operations() -%}
    {{- return([
        'OPTIMIZE', 'REORG', 'VACUUM START', 'VACUUM END', 'COMPUTE STATS', 'UPGRADE PROTOCOL', 'ROW TRACKING BACKFILL',
    ]) -}}
{%- endmacro %}

{# The first of several metrics that a commit has, as a number; none without one. #}
{% macro _metric(commit, names) -%}
    {%- for name in names if name in commit.metrics -%}{{- return(commit.metrics[name] | int) -}}{%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{# Whether a commit may have changed rows. #}
{% macro _moves_rows(commit) -%}
    {{- return(commit.operation not in dbt_delta._upkeep_operations() + [
        'CLUSTER BY', 'SET TBLPROPERTIES', 'UNSET TBLPROPERTIES', 'CHANGE COLUMN', 'CHANGE COLUMNS',
        'ADD COLUMNS', 'RENAME COLUMN', 'ADD CONSTRAINT', 'DROP CONSTRAINT',
    ]) -}}
{%- endmacro %}

{# Whether one of the commits after a version, up to another, may have changed rows. #}
{% macro _move_rows(commits, low, high) -%}
    {%- for commit in commits if low < commit.version <= high and dbt_delta._moves_rows(commit) -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{#
    Whether a name may be another column's after these commits, without a file that says so: column mapping
    renames and drops without writing, and RESTORE brings the names of another version back.
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

{# Commits that change nothing which anybody reads. #}
{% macro _is_upkeep(commit) -%}
    {%- if commit.operation not in ('SET TBLPROPERTIES', 'UNSET TBLPROPERTIES') -%}
        {{- return(commit.operation in dbt_delta._upkeep_operations()) -}}
    {%- endif -%}
    {%- set harmless = ['comment'] + dbt_delta._retention_properties().keys() | list -%}
    {%- for key in fromjson(commit.parameters.get('properties') or '[]', [])
        if key not in harmless and not key.startswith('dbt_delta.') -%}
        {{- return(false) -}}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}

{% macro _writer(commit) -%}
    {{- return(
        'somebody outside of dbt' if commit.run is none
        else 'run ' ~ commit.run[:8] ~ (' (' ~ commit.node ~ ')' if commit.node else '')
    ) -}}
{%- endmacro %}

{# The properties that say how long versions can be read, with Delta's defaults. #}
{% macro _retention_properties() -%}
    {{- return({
        'delta.deletedFileRetentionDuration': 'interval 7 days',
        'delta.logRetentionDuration': 'interval 30 days',
    }) -}}
{%- endmacro %}
