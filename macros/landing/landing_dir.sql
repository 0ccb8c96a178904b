{% macro landing_dir() -%}
    {%- set home = env_var('DBT_DELTA_HOME', flags.PROFILES_DIR ~ '/var') -%}
    {{- return(var('dbt_delta_landing', none) or home ~ '/landing') -}}
{%- endmacro %}
