{#
    What is known of the tests of a table at its newest version: {counts (by the id of the test), passed (dbt's
    row of a test without failures)}. It is asked once per version and run; what could not be asked is none.
#}
{% macro _test_counts(relation, tests) -%}
    {%- set state = dbt_delta._state_of(relation) -%}
    {%- if state is none -%}{{- return(none) -}}{%- endif -%}
    {%- set key = dbt_delta._named(relation) ~ ' ' ~ state.id -%}
    {%- if adapter.dbt_delta_once is defined -%}
        {{- return(adapter.dbt_delta_once(key, dbt_delta._ask_test_counts, relation, tests, state)) -}}
    {%- endif -%}
    {#- Jinja cannot wait: while one thread asks, the others go on by themselves. -#}
    {%- set asking = graph.setdefault('dbt_delta_asking', {}) -%}
    {%- set known = graph.setdefault('dbt_delta_test_counts', {}) -%}
    {%- if asking.setdefault(key, model.unique_id) == model.unique_id -%}
        {%- do known.update({key: dbt_delta._ask_test_counts(relation, tests, state)}) -%}
    {%- endif -%}
    {{- return(known.get(key)) -}}
{%- endmacro %}

{# The same, asked; none where the table was written to meanwhile, or where Spark refuses the statement. #}
{% macro _ask_test_counts(relation, tests, state) -%}
    {%- set counts, asked, plannable = {}, [], [] -%}
    {%- for test in tests -%}
        {%- if test.kind == 'not_null' and not test.where
            and dbt_delta._tokens(test.column) | length == 1
            and dbt_delta._name_of(dbt_delta._tokens(test.column)[0]) in state.required -%}
            {%- do counts.update({test.id: 0}) -%}
        {%- else -%}
            {%- do asked.append(test) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set from = dbt_delta._named(relation) -%}
    {%- set sql = dbt_delta._test_counts_sql(from, asked) if asked
        else 'select 0L as failures, false as should_warn, false as should_error' -%}
    {%- set found = dbt_delta._attempt(sql) -%}
    {%- if found.problem and adapter.dbt_delta_problem is defined -%}
        {#- One test that Spark cannot plan, as its column is gone, must not cost the others their scan. -#}
        {%- for test in asked if not adapter.dbt_delta_problem(dbt_delta._test_counts_sql(from, [test])) -%}
            {%- do plannable.append(test) -%}
        {%- endfor -%}
        {%- if plannable and plannable | length < asked | length -%}
            {%- set asked = plannable -%}
            {%- set found = dbt_delta._attempt(dbt_delta._test_counts_sql(from, asked)) -%}
        {%- endif -%}
    {%- endif -%}
    {%- if found.problem or (dbt_delta._state_of(relation) or {}).get('id') != state.id -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set parts = dbt_delta._parts_of_tests(asked) -%}
    {%- for row in found.rows if asked -%}
        {%- for count in fromjson(row['counts']) -%}
            {%- do counts.update({parts[row['part'] | int][loop.index0].id: count}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return({
        'counts': counts,
        'passed': found.table.select(['failures', 'should_warn', 'should_error']).limit(1),
    }) -}}
{%- endmacro %}
