{# One row if the number of rows is below min or above max; one of them may be left out. #}
{% test row_count_between(model, min=none, max=none) -%}
    {%- if min is none and max is none -%}
        {%- do dbt_delta._refuse('row_count_between of ' ~ model ~ ' has no min and no max. Set one or both.') -%}
    {%- endif -%}
    {%- set bounds = [] -%}
    {%- if min is not none -%}{%- do bounds.append('row_count < ' ~ min) -%}{%- endif -%}
    {%- if max is not none -%}{%- do bounds.append('row_count > ' ~ max) -%}{%- endif -%}
select *
from (select count(*) as row_count from {{ model }}) as counted
where {{ bounds | join(' or ') }}
{%- endtest %}
