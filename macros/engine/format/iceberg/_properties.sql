{# Iceberg's own properties; Delta's are those of a project that is built on both. #}
{% macro _iceberg__is_format_property(key) -%}
    {{- return(key.lower().startswith('delta.')) -}}
{%- endmacro %}

{# What a property of Delta's is here, as properties; empty if it has no counterpart. #}
{% macro _iceberg__own_properties(key, value) -%}
    {%- set name, is_on = key[6:] | lower, dbt_delta._plain(value) | lower == 'true' -%}
    {%- if name == 'enabledeletionvectors' -%}
        {{- return(dbt_delta._iceberg__write_mode('merge_on_read' if is_on else 'copy_on_write')) -}}
    {%- elif name == 'enablechangedatafeed' and is_on -%}
        {#- Its rows have ids, and the number of the commit that changed them. -#}
        {{- return({'format-version': '3'}) -}}
    {%- elif name == 'deletedfileretentionduration' -%}
        {%- set text = value | string | trim | lower -%}
        {%- set found = modules.re.match('(?:interval\\s+)?(\\d+)\\s+(hour|day|week)s?$', text) -%}
        {%- set hours = {'hour': 1, 'day': 24, 'week': 168} -%}
        {%- if found -%}
            {{- return({
                'history.expire.max-snapshot-age-ms': found[1] | int * hours[found[2]] * 3600000,
            }) -}}
        {%- endif -%}
    {%- endif -%}
    {{- return({}) -}}
{%- endmacro %}

{# What flags of the model add to its properties; one that means nothing here warns. #}
{% macro _iceberg__flag_properties() -%}
    {%- for name in ('auto_compact', 'optimize_write') if config.get(name) is not none -%}
        {%- do dbt_delta._warn_of_config(name, of='Delta') -%}
    {%- endfor -%}
    {%- set mode = config.get('write_mode') -%}
    {%- if mode is none -%}{{- return({}) -}}{%- endif -%}
    {%- do dbt_delta._check_choice('write_mode', mode, ['merge_on_read', 'copy_on_write']) -%}
    {{- return(dbt_delta._iceberg__write_mode(mode)) -}}
{%- endmacro %}

{% macro _iceberg__has_property(properties, key, value) -%}
    {%- set found, wanted = properties.get(key), dbt_delta._plain(value) -%}
    {%- if key == 'format-version' and found is not none -%}{{- return(found | int >= wanted | int) -}}{%- endif -%}
    {{- return(found == wanted) -}}
{%- endmacro %}

{# Iceberg has no CHECK constraints: ours are properties, and each of our writes checks them. #}
{% macro _iceberg__constraint_property(name) -%}
    {{- return('dbt_delta.constraints.' ~ name) -}}
{%- endmacro %}

{# In a configuration they may have Delta's name. #}
{% macro _iceberg__constraint_names(properties) -%}
    {%- set names = [] -%}
    {%- for key in properties -%}
        {%- for start in ('dbt_delta.constraints.', 'delta.constraints.') if key.startswith(start) -%}
            {%- do names.append(key[start | length:]) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{# The expression of a constraint among properties. #}
{% macro _iceberg__constraint(properties, name) -%}
    {{- return(properties.get('dbt_delta.constraints.' ~ name, properties.get('delta.constraints.' ~ name))) -}}
{%- endmacro %}

{% macro _iceberg__is_restated(key) -%}{{- return(true) -}}{%- endmacro %}

{# How long snapshots are kept; Iceberg has no log beside them. #}
{% macro _iceberg__retention_property(of) -%}{{- return('history.expire.max-snapshot-age-ms') -}}{%- endmacro %}

{% macro _iceberg__retention_properties() -%}
    {{- return({dbt_delta._iceberg__retention_property('files'): '432000000'}) -}}
{%- endmacro %}
