{#
    A shallow clone reads the files of its source, and of the table from which its source was cloned: a VACUUM there
    breaks it. A property of the clone names these tables, the nearest first.
#}
{% macro get_create_clone_sql(relation, source) -%}
create table {{ dbt_delta._named(relation) }}
shallow clone {{ dbt_delta._named(source.relation) }}
tblproperties {{ dbt_delta._literal_pairs({'dbt_delta.clone_of': dbt_delta._clone_sources(source)}) }}
{%- endmacro %}

{% macro _clone_sources(source) -%}
    {%- set further = source.properties.get('dbt_delta.clone_of') -%}
    {{- return(dbt_delta._named(source.relation) ~ (' < ' ~ further if further else '')) -}}
{%- endmacro %}
