{# The name of the batch's rows in the conditions of a MERGE. #}
{% macro _source_alias() -%}{{- return(config.get('source_alias') or 'DBT_INTERNAL_SOURCE') -}}{%- endmacro %}

{# The name of the table's rows there. #}
{% macro _target_alias() -%}{{- return(config.get('target_alias') or 'DBT_INTERNAL_DEST') -}}{%- endmacro %}
