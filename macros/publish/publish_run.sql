{# For on-run-end: publishes what the run has built, if all that has to is right; says what holds it back. #}
{% macro publish_run(results) -%}
    {%- set settings = dbt_delta._publish_settings() if execute else none -%}
    {%- if settings is none -%}{{- return('') -}}{%- endif -%}
    {%- do dbt_delta._memory('publish').update({'has_run': true}) -%}
    {%- set is_limited = invocation_args_dict.get('empty') or invocation_args_dict.get('sample') -%}
    {%- set outcomes = dbt_delta._outcomes(results, is_limited, dbt_delta._deferred(results)) -%}
    {%- set done = dbt_delta._publish(settings, outcomes) -%}
    {%- for line in dbt_delta._publish_lines(settings, done) -%}{%- do log(line, info=true) -%}{%- endfor -%}
    {{- return('') -}}
{%- endmacro %}

{# The same, unless a hook of the project has done it. #}
{% macro _publish_once(results) -%}
    {%- if 'has_run' not in dbt_delta._memory('publish') -%}{%- do dbt_delta.publish_run(results) -%}{%- endif -%}
{%- endmacro %}

{# What moved, and what did not, as lines. #}
{% macro _publish_lines(settings, done) -%}
    {%- set lines, reasons = [], [] -%}
    {%- if done.lines -%}
        {%- do lines.append('Published in ' ~ settings.schema ~ ': ' ~ done.lines | join(', ')) -%}
    {%- endif -%}
    {%- for whys in done.held.values() if whys not in reasons -%}
        {%- set names = [] -%}
        {%- for name, same in done.held.items() if same == whys -%}{%- do names.append(name) -%}{%- endfor -%}
        {%- do reasons.append(whys) -%}
        {%- do lines.append(
            'Not published in ' ~ settings.schema ~ ': ' ~ names | join(', ') ~ ', as ' ~ whys[:5] | join(', ')
            ~ (' and ' ~ (whys | length - 5) ~ ' more' if whys | length > 5 else '')
        ) -%}
    {%- endfor -%}
    {%- if not lines -%}{%- do lines.append('Nothing new to publish in ' ~ settings.schema) -%}{%- endif -%}
    {{- return(lines) -}}
{%- endmacro %}
