{#
    What is known of the tests of a table at its newest version: {counts (by the id of the test), passed (dbt's
    row of a test without failures)}. It is asked once per version and run; what could not be asked is none.
#}
{% macro _test_counts(relation, tests) -%}
    {%- set state = dbt_delta._state_of(relation) -%}
    {%- if state is none -%}{{- return(none) -}}{%- endif -%}
    {%- set key = dbt_delta._named(relation) ~ ' ' ~ state -%}
    {%- if adapter.dbt_delta_once is defined -%}
        {{- return(adapter.dbt_delta_once(key, dbt_delta._ask_test_counts, relation, tests, state)) -}}
    {%- endif -%}
    {#- Jinja cannot wait: while one thread asks, the others go on by themselves. -#}
    {%- set asking = dbt_delta._memory('asked counts') -%}
    {%- set known = dbt_delta._memory('counts') -%}
    {%- if asking.setdefault(key, model.unique_id) == model.unique_id -%}
        {%- do known.update({key: dbt_delta._ask_test_counts(relation, tests, state)}) -%}
    {%- endif -%}
    {{- return(known.get(key)) -}}
{%- endmacro %}

{# The same, asked; none where the table was written to meanwhile, or where Spark refuses the statement. #}
{% macro _ask_test_counts(relation, tests, state) -%}
    {%- set from = dbt_delta._named(relation) -%}
    {%- set asked = tests -%}
    {%- set found = dbt_delta._attempt(dbt_delta._test_counts_sql(from, asked)) -%}
    {%- if found.problem and adapter.dbt_delta_problem is defined -%}
        {#- One test that Spark cannot plan, as its column is gone, must not cost the others their scan. -#}
        {%- set asked = [] -%}
        {%- for test in tests if not adapter.dbt_delta_problem(dbt_delta._test_counts_sql(from, [test])) -%}
            {%- do asked.append(test) -%}
        {%- endfor -%}
        {%- if asked and asked | length < tests | length -%}
            {%- set found = dbt_delta._attempt(dbt_delta._test_counts_sql(from, asked)) -%}
        {%- endif -%}
    {%- endif -%}
    {%- if found.problem or dbt_delta._state_of(relation) != state -%}{{- return(none) -}}{%- endif -%}
    {%- set counts, parts = {}, dbt_delta._parts_of_tests(asked) -%}
    {%- for row in found.rows -%}
        {%- for count in fromjson(row['counts']) -%}
            {%- do counts.update({parts[row['part'] | int][loop.index0].id: count}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return({
        'counts': counts,
        'passed': found.table.select(['failures', 'should_warn', 'should_error']).limit(1),
    }) -}}
{%- endmacro %}
