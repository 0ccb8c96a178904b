{# Why Iceberg refuses a change of columns, and the way out: {problem, way_out}, or none. #}
{% macro _iceberg__impossible(change, table, layout) -%}
    {%- set problem, way_out = none, 'Keep the column, or rebuild with --full-refresh.' -%}
    {%- set feature = none if change.kind == 'drop' else dbt_delta._missing_feature(change.type, table, layout) -%}
    {%- if change.kind == 'drop' and dbt_delta._holds_any(change.path, dbt_delta._iceberg__partition_columns(table)) -%}
        {%- set problem = 'the table is partitioned by it' -%}
    {%- elif change.kind == 'drop' and dbt_delta._constraints_on(change.path, table, layout) -%}
        {%- set problem = 'constraint ' ~ dbt_delta._constraints_on(change.path, table, layout) | join(', ') ~ ' uses it' -%}
        {%- set way_out = 'Remove the constraint, or keep the column.' -%}
    {%- elif feature is not none -%}
        {%- set problem = 'the table does not have the feature ' ~ feature -%}
        {%- set way_out = dbt_delta._turn_on(feature) ~ ', cast the column, or rebuild with --full-refresh.' -%}
    {%- elif change.kind == 'add' and change.type == 'void' -%}
        {%- set problem, way_out = 'it has no type', 'Write cast(null as <type>).' -%}
    {%- elif change.kind == 'retype' and not dbt_delta._iceberg__widens(change.was, change.type) -%}
        {%- set problem = 'Iceberg widens int to bigint, float to double, and decimals that keep their scale' -%}
        {%- set way_out = 'Cast the column to ' ~ change.was ~ ', or rebuild with --full-refresh.' -%}
    {%- endif -%}
    {{- return(none if problem is none else {'problem': problem, 'way_out': way_out}) -}}
{%- endmacro %}

{% macro _iceberg__widens(narrow, wide) -%}
    {%- if narrow.startswith('decimal') and wide.startswith('decimal') -%}
        {%- set from = modules.re.findall('\\d+', narrow) | map('int') | list -%}
        {%- set to = modules.re.findall('\\d+', wide) | map('int') | list -%}
        {{- return(to[1] == from[1] and to[0] > from[0]) -}}
    {%- endif -%}
    {{- return((narrow, wide) in (('int', 'bigint'), ('float', 'double'))) -}}
{%- endmacro %}
