{% macro landing_dir() -%}
    {{- return(var('dbt_delta_landing', none) or env_var('DBT_DELTA_HOME', flags.PROFILES_DIR ~ '/var') ~ '/landing') -}}
{%- endmacro %}
