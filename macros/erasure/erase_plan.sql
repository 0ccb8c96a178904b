{# A run operation that shows what an erasure would find and what stands in its way; it changes nothing. #}
{% macro erase_plan(kind, requests, action='delete', output='text', landing=none) -%}
    {%- do dbt_delta._in_format('check_operation')('erase_plan') -%}
    {%- do dbt_delta._check_choice('erase_plan: output', output, ['text', 'json']) -%}
    {%- do dbt_delta._print_erasure(dbt_delta._erasure_plan('erase_plan', kind, requests, action, landing), output) -%}
{%- endmacro %}
