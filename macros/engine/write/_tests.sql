{#
    The failing rows of tests of one table, in one statement: rows of `part`, and `counts` as a JSON array
    in the order of _parts_of_tests. The other columns are what dbt wants to know of a test without failures.
    Their names come last: Spark lets what follows in a SELECT name them as columns.
#}
{% macro _test_counts_sql(from, tests) -%}
    {%- for part in dbt_delta._parts_of_tests(tests) %}
{{ 'union all\n' if not loop.first }}select
    to_json(array(
        {% for test in part %}{{ dbt_delta._count_of_test(test) }}{{ ',\n        ' if not loop.last }}{% endfor %}
    )) as counts,
    {{ loop.index0 }} as part,
    0L as failures,
    false as should_warn,
    false as should_error
from {{ dbt_delta._rows_of_part(from, part) }}
    {%- endfor -%}
{%- endmacro %}

{#
    Tests as lists; each list is one scan. `not_null` has a scan of its own: by its statistics Delta skips all files
    without NULLs. Each key has one, too.
#}
{% macro _parts_of_tests(tests) -%}
    {%- set nulls, rows, keys = [], [], [] -%}
    {%- for test in tests -%}
        {%- if test.kind == 'unique' -%}{%- do keys.append([test]) -%}
        {%- else -%}{%- do (nulls if test.kind == 'not_null' else rows).append(test) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return([nulls, rows] | select | list + keys) -}}
{%- endmacro %}

{% macro _rows_of_part(from, part) -%}
    {%- if part[0].kind == 'unique' -%}
(
    select 1 from {{ from }}
    where {{ dbt_delta._failing(part[0]) }}
    group by {{ part[0].column }}
    having count(*) > 1
) as repeated
    {%- elif part[0].kind == 'not_null' -%}
{{ from }}
where {% for test in part %}{{ dbt_delta._failing(test) }}{{ ' or ' if not loop.last }}{% endfor %}
    {%- else -%}
{{ from }}
    {%- endif -%}
{%- endmacro %}

{% macro _count_of_test(test) -%}
    {%- if test.kind == 'unique' -%}
        count(*)
    {%- elif test.kind != 'row_count_between' -%}
        count(*) filter (where {{ dbt_delta._failing(test) }})
    {%- else -%}
        {%- set count = 'count(*)' ~ (' filter (where ' ~ test.where ~ ')' if test.where else '') -%}
        {%- set bounds = [] -%}
        {%- if test.min is not none -%}{%- do bounds.append(count ~ ' < ' ~ test.min) -%}{%- endif -%}
        {%- if test.max is not none -%}{%- do bounds.append(count ~ ' > ' ~ test.max) -%}{%- endif -%}
        bigint({{ bounds | join(' or ') }})
    {%- endif -%}
{%- endmacro %}

{# What is true of a row that a test is about; the texts stand in it as they do in dbt's own SQL. #}
{% macro _failing(test) -%}
    {%- set values = [] -%}
    {%- for value in test.allowed or [] -%}
        {%- do values.append("'" ~ value ~ "'" if test.quote else value) -%}
    {%- endfor -%}
    {%- if test.where -%}(({{ test.where }}) and {% endif -%}
    {%- if test.kind == 'not_null' -%}({{ test.column }} is null)
    {%- elif test.kind == 'unique' -%}({{ test.column }} is not null)
    {%- else -%}(({{ test.column }}) not in ({{ values | join(', ') }}))
    {%- endif -%}
    {%- if test.where -%}){%- endif -%}
{%- endmacro %}
