{# A table's location in the form of _plain_path. #}
{% macro _plain_location(text) -%}
    {{- return(modules.re.sub('^file:/+', 'file:/', text).rstrip('/')) -}}
{%- endmacro %}

{# A path in a log in the form of the catalog: not encoded, with one slash after file:. #}
{% macro _plain_path(path) -%}
    {{- return(
        "regexp_replace(url_decode(replace(" ~ path ~ ", '+', '%2B')), '^file:/+', 'file:/')"
    ) -}}
{%- endmacro %}

{# A path without wildcards. #}
{% macro _plain_glob(path) -%}
    {{- return(modules.re.sub('([][{}*?,\\\\])', '\\\\\\1', path)) -}}
{%- endmacro %}

{# The folder that contains the folder of a table's schema. #}
{% macro _warehouse(table) -%}
    {{- return(table.location.rpartition('/')[0].rpartition('/')[0]) -}}
{%- endmacro %}

{# The logs of tables of one warehouse: {parent, tables}. #}
{% macro _log(tables) -%}
    {{- return({'parent': dbt_delta._warehouse(tables[0]), 'tables': tables}) -}}
{%- endmacro %}

{% macro _log_folder(log, table) -%}
    {{- return(table.location[log.parent | length + 1:] ~ '/_delta_log/') -}}
{%- endmacro %}

{# Files in the logs of several tables as Spark reads them. #}
{% macro _log_files(log, names) -%}
    {%- set paths = [] -%}
    {%- for table in log.tables -%}
        {%- do paths.append(dbt_delta._plain_glob(dbt_delta._log_folder(log, table)) ~ names) -%}
    {%- endfor -%}
    {{- return(dbt_delta._any_path(log.parent, paths)) -}}
{%- endmacro %}

{# `/parent/{a/x,b/y}`: a path cannot begin with the brace. #}
{% macro _any_path(parent, paths) -%}
    {{- return(dbt_delta._quoted(dbt_delta._plain_glob(parent) ~ '/{' ~ paths | join(',') ~ '}')) -}}
{%- endmacro %}
