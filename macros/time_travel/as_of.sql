{# A relation as of a version or a time, for any FROM. #}
{% macro as_of(relation, version=none, timestamp=none) -%}
    {%- if (version is none) == (timestamp is none) -%}
        {%- do dbt_delta._refuse(
            'as_of of ' ~ relation ~ ' has version ' ~ version ~ ' and timestamp ' ~ timestamp
            ~ '. Use exactly one of them.'
        ) -%}
    {%- endif -%}
    {%- set name = dbt_delta._named(relation) -%}
    {%- if timestamp is not none -%}
        {{- return(name ~ ' timestamp as of ' ~ dbt_delta._literal(timestamp)) -}}
    {%- endif -%}
    {%- do dbt_delta._check_version('as_of of ' ~ relation ~ ' has version', version) -%}
    {{- return(name ~ ' version as of ' ~ version) -}}
{%- endmacro %}
