{# The name of a column at an earlier version; none if it is newer. Before a RESTORE names do not change. #}
{% macro _former_name(name, commits, from, to) -%}
    {%- set at = namespace(name=name, is_restored=false) -%}
    {%- for commit in commits if from < commit.version <= to and at.name is not none and not at.is_restored -%}
        {%- if commit.operation == 'RESTORE' -%}
            {%- set at.is_restored = true -%}
        {%- elif commit.operation == 'RENAME COLUMN'
            and dbt_delta._column_at(commit.parameters.newColumnPath) | lower == at.name | lower -%}
            {%- set at.name = dbt_delta._column_at(commit.parameters.oldColumnPath) -%}
        {%- elif commit.operation == 'DROP COLUMNS'
            and at.name | lower in dbt_delta._dropped_columns(commit) | map('lower') -%}
            {%- set at.name = none -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(at.name) -}}
{%- endmacro %}

{# The column of a path in Delta's history, which quotes it only if it contains a dot; empty for a field of a struct. #}
{% macro _column_at(path) -%}
    {%- if '.' not in path -%}{{- return(path) -}}{%- endif -%}
    {%- set quoted = modules.re.fullmatch('`((?:(?!`[.]|[.]`).)*)`', path, modules.re.DOTALL) -%}
    {{- return(quoted.group(1) if quoted else '') -}}
{%- endmacro %}

{% macro _dropped_columns(commit) -%}
    {%- set columns = [] -%}
    {%- for path in fromjson(commit.parameters.get('columns') or '[]', []) -%}
        {%- do columns.append(dbt_delta._column_at(path)) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{#
    Whether names of fields, or names that a RESTORE brought back, may belong to other columns although no file was
    written. Then all rows are compared, by name.
#}
{% macro _loses_track(commits, low, high) -%}
    {%- set others = [] -%}
    {%- for commit in commits if not (
        low < commit.version <= high and (
            commit.operation == 'RENAME COLUMN' and dbt_delta._column_at(commit.parameters.oldColumnPath)
            or commit.operation == 'DROP COLUMNS' and '' not in dbt_delta._dropped_columns(commit)
        )
    ) -%}
        {%- do others.append(commit) -%}
    {%- endfor -%}
    {%- set restores = commits | selectattr('operation', 'equalto', 'RESTORE') | map(attribute='version')
        | select('gt', low) | select('le', high) | list -%}
    {{- return(dbt_delta._reuses_names(commits if restores else others, low, high)) -}}
{%- endmacro %}
