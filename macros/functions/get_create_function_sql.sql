{#
    dbt's functions (`functions/*.sql`) as SQL functions of Spark, which its catalog keeps. dbt's own materialization
    calls the macros that begin with `spark__`.
#}
{% macro spark__scalar_function_sql(target_relation) -%}
    {%- do dbt_delta._validate_platform() -%}
    {%- do dbt_delta._check_function(target_relation, model) -%}
    {{- return(dbt_delta.get_create_function_sql(target_relation, model)) -}}
{%- endmacro %}

{% macro get_create_function_sql(relation, function) -%}
    {%- set arguments = [] -%}
    {%- for argument in function.arguments -%}
        {%- do arguments.append(dbt_delta._function_argument(argument)) -%}
    {%- endfor -%}
    {%- set volatility = function.config.get('volatility') -%}
CREATE OR REPLACE FUNCTION {{ dbt_delta._named(relation) }} ({{ arguments | join(', ') }})
RETURNS {{ function.returns.data_type }}
LANGUAGE SQL
    {%- if volatility == 'deterministic' %}
DETERMINISTIC
    {%- elif volatility == 'non-deterministic' %}
NOT DETERMINISTIC
    {%- endif %}
    {%- if function.get('description') %}
COMMENT {{ dbt_delta._literal(function.description) }}
    {%- endif %}
RETURN
{{ dbt_delta._inner_sql(function.compiled_code) }}
{%- endmacro %}

{% macro _function_argument(argument) -%}
    {%- set text = dbt_delta._quoted(argument.name) ~ ' ' ~ argument.data_type -%}
    {%- if argument.get('default_value') is not none -%}
        {%- set text = text ~ ' DEFAULT ' ~ argument.default_value -%}
    {%- endif -%}
    {%- if argument.get('description') -%}
        {%- set text = text ~ ' COMMENT ' ~ dbt_delta._literal(argument.description) -%}
    {%- endif -%}
    {{- return(text) -}}
{%- endmacro %}

{# Refuses what Spark refuses without naming the function, or takes and forgets. #}
{% macro _check_function(relation, function) -%}
    {%- if not modules.re.fullmatch('\\w+', relation.identifier, modules.re.ASCII) -%}
        {%- do dbt_delta._refuse(
            "the catalog cannot keep a function with the name '" ~ relation.identifier ~ "'. Use letters, digits and _."
        ) -%}
    {%- endif -%}
    {%- for other in (graph.functions or {}).values() if other.unique_id != function.unique_id
        and other.schema | lower == relation.schema | lower and other.alias | lower == relation.identifier | lower -%}
        {%- do dbt_delta._refuse(
            'function ' ~ function.name ~ ': ' ~ other.unique_id ~ ' has its name, ' ~ dbt_delta._bare(relation)
            ~ ', and would replace it. A name has one function, and upper case is lower case. Give one an alias.'
        ) -%}
    {%- endfor -%}
    {%- set types = {'its result': function.returns.data_type} -%}
    {%- for argument in function.arguments -%}
        {%- do types.update({'its argument ' ~ argument.name: argument.data_type}) -%}
    {%- endfor -%}
    {%- for what, type in types.items() if modules.re.search('(?i)\\b(var)?char\\b', type) -%}
        {%- do dbt_delta._refuse(
            'function ' ~ function.name ~ ': ' ~ what ~ ' is ' ~ type ~ ', which no function of Spark has. Use string.'
        ) -%}
    {%- endfor -%}
    {%- if function.config.get('volatility') == 'stable' -%}
        {%- do dbt_delta._refuse(
            'function ' ~ function.name ~ ': volatility is stable, which Spark does not know. Use deterministic or '
            ~ 'non-deterministic.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# Comments are part of the statement above. #}
{% macro spark__function_execute_build_sql(build_sql, existing_relation, target_relation) -%}
    {%- do dbt_delta._main(build_sql) -%}
{%- endmacro %}

{% macro spark__scalar_function_python(target_relation) -%}
    {%- do dbt_delta._refuse(
        'function ' ~ model.name ~ " is in Python; Spark's catalog keeps only SQL functions. Write its body in SQL, or "
        ~ 'use a Python model.'
    ) -%}
{%- endmacro %}

{% macro spark__aggregate_function_python(target_relation) -%}
    {{- return(dbt_delta.spark__scalar_function_python(target_relation)) -}}
{%- endmacro %}

{% macro spark__aggregate_function_sql(target_relation) -%}
    {%- do dbt_delta._refuse(
        'function ' ~ model.name ~ ' is an aggregate; Spark has no aggregates in SQL. Use a macro, or a scalar function '
        ~ 'of collect_list().'
    ) -%}
{%- endmacro %}
