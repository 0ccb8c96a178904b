{# Why Delta refuses a change of columns, after others were made, and what allows it: {problem, way_out}, or none. #}
{% macro _delta__impossible(change, table, layout) -%}
    {%- set mapped = dbt_delta._will_have_feature(table, layout, 'column_mapping') -%}
    {%- set widening = dbt_delta._will_have_feature(table, layout, 'type_widening') -%}
    {%- set feed_names = ('_change_type', '_commit_version', '_commit_timestamp') -%}
    {%- set feature = none if change.kind == 'drop' else dbt_delta._missing_feature(change.type, table, layout) -%}
    {%- set problem, way_out = none, none -%}
    {%- if change.kind == 'drop' and dbt_delta._holds_any(
        change.path, dbt_delta._in_format('partition_columns')(table) + table.clustering
    ) -%}
        {%- set problem = 'the table is partitioned or clustered by it' -%}
        {%- set way_out = 'Keep the column, or rebuild with --full-refresh.' -%}
    {%- elif change.kind == 'drop' and not mapped -%}
        {%- set problem = 'Delta drops columns only with column mapping' -%}
        {%- set way_out = dbt_delta._turn_on('column_mapping') ~ ', keep the column, or rebuild with --full-refresh.' -%}
    {%- elif change.kind == 'drop' and dbt_delta._constraints_on(change.path, table, layout) -%}
        {%- set problem = 'CHECK constraint '
            ~ dbt_delta._constraints_on(change.path, table, layout) | join(', ') ~ ' uses it' -%}
                {%- set way_out = 'Remove the constraint, or keep the column.' -%}
    {%- elif change.kind == 'drop' and dbt_delta._generated_from(change.path, table) -%}
        {%- set problem = 'column ' ~ dbt_delta._generated_from(change.path, table) | join(', ') ~ ' is computed from it' -%}
        {%- set way_out = 'Drop the generated column, or keep this one.' -%}
    {%- elif feature is not none -%}
        {%- set problem = 'the table does not have the feature ' ~ feature -%}
        {%- set way_out = dbt_delta._turn_on(feature) ~ ', cast the column, or rebuild with --full-refresh.' -%}
    {%- elif change.kind == 'add' and not mapped and modules.re.search('[ ,;{}()\\n\\t=]', change.path[-1]) -%}
        {%- set problem = 'Delta allows a blank or one of ,;{}()= in a name only with column mapping' -%}
        {%- set way_out = dbt_delta._turn_on('column_mapping') ~ ', or rename the column.' -%}
    {%- elif change.kind == 'add' and change.path | length == 1 and change.path[0] | lower in feed_names
        and dbt_delta._will_have_feature(table, layout, 'change_feed') -%}
        {%- set problem, way_out = 'the change feed has a column with this name', 'Rename the column.' -%}
    {%- elif change.kind == 'add' and change.type == 'void' -%}
        {%- set problem, way_out = 'it has no type', 'Write cast(null as <type>).' -%}
    {%- elif change.kind == 'retype' and not dbt_delta._widens(change.was, change.type) -%}
        {%- set problem = 'Delta can widen only numbers and dates' -%}
        {%- set way_out = 'Cast the column to ' ~ change.was ~ ', or rebuild with --full-refresh.' -%}
    {%- elif change.kind == 'retype' and not widening -%}
        {%- set problem = 'Delta changes types only with type widening' -%}
        {%- set way_out = dbt_delta._turn_on('type_widening')
            ~ ', cast the column, or rebuild with --full-refresh.' -%}
    {%- endif -%}
    {{- return(none if problem is none else {'problem': problem, 'way_out': way_out}) -}}
{%- endmacro %}

{#
    Whether Delta can widen a column from one type to another. The list is from the
    documentation of Delta 4.4.
#}
{% macro _delta__widens(narrow, wide) -%}
    {%- set digits = {'tinyint': 3, 'smallint': 5, 'int': 10, 'bigint': 20} -%}
    {%- set order = digits.keys() | list -%}
    {%- if wide.startswith('decimal') -%}
        {%- set to = modules.re.findall('\\d+', wide) | map('int') | list -%}
        {%- if narrow.startswith('decimal') -%}
            {%- set from = modules.re.findall('\\d+', narrow) | map('int') | list -%}
            {{- return(to[1] >= from[1] and to[0] - to[1] >= from[0] - from[1]) -}}
        {%- endif -%}
        {{- return(narrow in digits and to[0] - to[1] >= digits[narrow]) -}}
    {%- elif narrow in digits and wide in digits -%}
        {{- return(order.index(wide) > order.index(narrow)) -}}
    {%- endif -%}
    {{- return((narrow, wide) in (
        ('tinyint', 'double'), ('smallint', 'double'), ('int', 'double'), ('float', 'double'),
        ('date', 'timestamp_ntz'),
    )) -}}
{%- endmacro %}
