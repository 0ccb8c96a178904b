{# The columns, except keys, whose values may change when they are stored, each with the condition for that. #}
{% macro _value_losses(batch, keys) -%}
    {%- set losses = [] -%}
    {%- for column in batch['columns'] if column.name | lower not in keys | map('lower') | list
        and not dbt_delta._fits(column.source_type, column.type) -%}
        {%- set altered = dbt_delta._altered(dbt_delta._quoted(column.source), column.source_type, column.type) -%}
        {%- if altered -%}{%- do losses.append(dict(column, altered=altered)) -%}{%- endif -%}
    {%- endfor -%}
    {{- return(losses) -}}
{%- endmacro %}

{# For each of these columns, how many rows have a value that would change, and one example. #}
{% macro get_losses_sql(from, losses) -%}
    {%- set counts = [] -%}
    {%- for column in losses -%}
        {%- do counts.append('count_if(' ~ column.altered ~ ')') -%}
        {%- set shown = dbt_delta._shown_json(
            [{'name': column.source, 'value': dbt_delta._quoted(column.source)}], dbt_delta._masked_here()
        ) -%}
        {%- do counts.append('first(' ~ shown ~ ') filter (where ' ~ column.altered ~ ')') -%}
    {%- endfor -%}
select {{ counts | join(',\n    ') }}
from {{ from }} as batch
{%- endmacro %}

{# What the columns of the table require of a row, as constraints, as far as the session knows. #}
{% macro _column_checks(batch) -%}
    {%- set checks = {} -%}
    {%- for column in batch.target_columns -%}
        {%- set name = dbt_delta._quoted(column.name) -%}
        {%- set sized = modules.re.match('(?:var)?char\\(([0-9]+)\\)', column.get('declared') or '') -%}
        {%- if column.get('nullable') is false -%}
            {%- do checks.update({dbt_delta._check_name('not_null', column.name): name ~ ' is not null'}) -%}
        {%- endif -%}
        {%- if sized -%}
            {#- Spark cuts off blanks that exceed the length. -#}
            {%- do checks.update({
                dbt_delta._check_name('length', column.name):
                    name ~ ' is null or length(rtrim(' ~ name ~ ')) <= ' ~ sized.group(1),
            }) -%}
        {%- endif -%}
        {%- if column.get('generation') -%}
            {%- do checks.update({
                dbt_delta._check_name('generated', column.name): name ~ ' <=> (' ~ column.generation ~ ')',
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(checks) -}}
{%- endmacro %}
