{% macro landing_dir(folder=none) -%}
    {%- set home = env_var('DBT_DELTA_HOME', flags.PROFILES_DIR ~ '/var') -%}
    {%- set all = var('dbt_delta_landing', none) or home ~ '/landing' -%}
    {%- if folder is none -%}{{- return(all) -}}{%- endif -%}
    {{- return(folder.rstrip('/') if '://' in folder else all ~ '/' ~ folder.strip('/')) -}}
{%- endmacro %}
