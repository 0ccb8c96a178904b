{% macro doctor() -%}
    {%- set found = dbt_delta._session_facts() -%}
    {%- set faults = dbt_delta._session_faults(found) -%}
    {%- for line in (faults or dbt_delta._session_summary(found)) + dbt_delta._session_notes(found) -%}
        {%- do print(line) -%}
    {%- endfor -%}
    {%- if faults -%}
        {%- do dbt_delta._refuse('Faults found: ' ~ faults | length ~ ', each named above.') -%}
    {%- endif -%}
{%- endmacro %}
