{% materialization test, adapter='spark' -%}
    {{ return(dbt_delta.build_test()) }}
{%- endmaterialization %}

{#
    A test that has no failures at the table's newest version, as one scan for all of its tests says, passes
    without its own SQL. All else is dbt's own.
#}
{% macro build_test() -%}
    {%- set counts = dbt_delta._counts_for(model.unique_id) -%}
    {%- if (counts or {'counts': {}}).counts.get(model.unique_id) != 0 -%}
        {{- return(dbt.materialization_test_default()) -}}
    {%- endif -%}
    {%- do log('Without failures, as one statement says for all tests of the table', info=false) -%}
    {%- call noop_statement('main', message='OK', res=counts.passed) -%}
        {{ get_test_sql(sql, config.get('fail_calc'), config.get('warn_if'), config.get('error_if'), limit=none) }}
    {%- endcall -%}
    {{- return({'relations': []}) -}}
{%- endmacro %}

{# As from _test_counts; none where this test's SQL is not what dbt's macros give, as somebody has their own. #}
{% macro _counts_for(id) -%}
    {%- set tests = dbt_delta._countable_tests().get((model.depends_on.nodes or [''])[0], []) -%}
    {%- set test = tests | selectattr('id', 'equalto', id) | first -%}
    {%- set relation = dbt_delta._tested_table(test.of) if test else none -%}
    {%- if relation is none or should_store_failures()
        or sql | trim != dbt_delta._sql_of_test(test, relation) | trim
        or get_test_sql('s', 'f', 'w', 'e', limit=none) != dbt.default__get_test_sql('s', 'f', 'w', 'e', none) -%}
        {{- return(none) -}}
    {%- endif -%}
    {{- return(dbt_delta._test_counts(relation, tests)) -}}
{%- endmacro %}

{% macro _sql_of_test(test, relation) -%}
    {%- set from = '(select * from ' ~ relation ~ ' where ' ~ test.where ~ ') dbt_subquery' if test.where
        else relation -%}
    {%- if test.kind == 'not_null' -%}{{- return(dbt.default__test_not_null(from, test.column)) -}}
    {%- elif test.kind == 'unique' -%}{{- return(dbt.default__test_unique(from, test.column)) -}}
    {%- elif test.kind == 'accepted_values' -%}
        {{- return(dbt.default__test_accepted_values(from, test.column, test.allowed, test.quote)) -}}
    {%- else -%}{{- return(dbt_delta.test_row_count_between(from, test.min, test.max)) -}}
    {%- endif -%}
{%- endmacro %}
