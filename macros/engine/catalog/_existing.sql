{#
    What the catalog holds under a relation's name, or none: {type: table or view, provider, columns: [{name, type,
    comment}, and in a session nullable, default and generation (SQL or none) and is_generated], partitions,
    clustering, comment, location, owner, properties (a dictionary; a value is none if Spark does not show it), text
    (of a view), and of a Delta table bytes (of its files; none if unknown)}. The catalog is asked if dbt's listing
    does not have the relation, because the listing may have failed or be old, and if hooks have run since. dbt's
    cache is updated.
#}
{% macro _existing(relation) -%}
    {%- set cached = adapter.get_relation(none, relation.schema, relation.identifier) -%}
    {%- set is_listed = cached is not none and not (pre_hooks is defined and pre_hooks) -%}
    {%- if not is_listed and not dbt_delta._is_in_catalog(relation) -%}
        {%- do adapter.cache_dropped(cached) if cached is not none -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set found = dbt_delta._describe(relation) -%}
    {%- set known = api.Relation.create(
        schema=relation.schema, identifier=relation.identifier, type=found.type
    ) -%}
    {%- if cached is not none and cached.type != found.type -%}
        {%- do adapter.cache_dropped(cached) -%}
    {%- endif -%}
    {%- if cached is none or cached.type != found.type -%}
        {%- do adapter.cache_added(known) -%}
    {%- endif -%}
    {%- do found.update({'relation': known}) -%}
    {{- return(found) -}}
{%- endmacro %}

{# From the objects of the embedded session; a server has none and only prints. #}
{% macro _describe(relation) -%}
    {%- set found = none -%}
    {%- if adapter.dbt_delta_relation is defined -%}
        {%- set found = adapter.dbt_delta_relation(relation.schema, relation.identifier) -%}
    {%- endif -%}
    {{- return(dbt_delta._describe_by_sql(relation) if found is none else found) -}}
{%- endmacro %}

{% macro _is_in_catalog(relation) -%}
    {%- for column, sql in dbt_delta._in_format('names_sql')(relation.schema, relation.identifier).items() -%}
        {%- for row in run_query(sql).rows -%}
            {%- if row[column] | lower == relation.identifier | lower and not row['isTemporary'] -%}
                {{- return(true) -}}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}
