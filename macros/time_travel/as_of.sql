{# A relation as it was at a version or a time, for any FROM. #}
{% macro as_of(relation, version=none, timestamp=none) -%}
    {%- if (version is none) == (timestamp is none) -%}
        {%- do dbt_delta._refuse(
            'as_of of ' ~ relation ~ ' has version ' ~ version ~ ' and timestamp ' ~ timestamp
            ~ ': give one of them.'
        ) -%}
    {%- endif -%}
    {%- set name = dbt_delta._named(relation) -%}
    {%- if timestamp is not none -%}
        {{- return(name ~ ' timestamp as of ' ~ dbt_delta._literal(timestamp)) -}}
    {%- endif -%}
    {%- if not modules.re.match('[0-9]+$', version | string) -%}
        {%- do dbt_delta._refuse(
            "as_of of " ~ relation ~ " has version '" ~ version ~ "': a version is 0 or a whole number above it."
        ) -%}
    {%- endif -%}
    {{- return(name ~ ' version as of ' ~ version) -}}
{%- endmacro %}
