{# A relation as of a version or a time, for any FROM. #}
{% macro as_of(relation, version=none, timestamp=none) -%}
    {%- if (version is none) == (timestamp is none) -%}
        {%- do dbt_delta._refuse(
            'as_of of ' ~ relation ~ ' has version ' ~ version ~ ' and timestamp ' ~ timestamp
            ~ '. Use exactly one of them.'
        ) -%}
    {%- endif -%}
    {%- if timestamp is not none -%}
        {{- return(dbt_delta._as_of_time(relation, timestamp)) -}}
    {%- endif -%}
    {%- do dbt_delta._check_version('as_of of ' ~ relation ~ ' has version', version) -%}
    {{- return(dbt_delta._as_of(relation, version)) -}}
{%- endmacro %}
