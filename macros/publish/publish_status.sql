{# A run operation that shows what readers see, what is built, and what holds it back. #}
{% macro publish_status(output='text') -%}
    {%- do dbt_delta._in_format('check_operation')('publish_status') -%}
    {%- set settings = dbt_delta._publish_wanted('publish_status') -%}
    {%- do dbt_delta._check_choice('publish_status: output', output, ['text', 'json']) -%}
    {%- set lines = dbt_delta._published_lines(settings) -%}
    {%- if output == 'json' -%}
        {%- do print(tojson(lines)) -%}
    {%- else -%}
        {%- set short = [] -%}
        {%- for line in lines -%}{%- do short.append(dict(line, run=(line.run or '')[:8] or none)) -%}{%- endfor -%}
        {%- do dbt_delta._print_table(
            ['view', 'table', 'published', 'newest', 'run', 'age', 'held back by'], short
        ) -%}
    {%- endif -%}
{%- endmacro %}
