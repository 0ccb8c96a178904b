{# Whether models run in an embedded session, no server; `target` does not tell the method. #}
{% macro _is_session() -%}
    {{- return(adapter.config.credentials.method == 'session') -}}
{%- endmacro %}

{# What the catalog holds under a name, as from _existing. The schema may be missing, too. #}
{% macro _entry(relation) -%}
    {{- return(dbt_delta._existing(relation) if relation.schema | lower in dbt_delta._schemas() else none) -}}
{%- endmacro %}

{# What the catalog has under a name that must be a Delta table. #}
{% macro _delta_table(relation, macro) -%}
    {%- set existing = dbt_delta._entry(relation) -%}
    {%- if existing is none or existing.type == 'view' or existing.provider != 'delta' -%}
        {%- do dbt_delta._refuse(
            macro ~ ': ' ~ dbt_delta._named(relation) ~ ' is '
            ~ ('not in the catalog' if existing is none else 'a view' if existing.type == 'view'
                else 'a ' ~ existing.provider ~ ' table')
            ~ '; only a Delta table has versions. Build it first, or name another target.'
        ) -%}
    {%- endif -%}
    {{- return(existing) -}}
{%- endmacro %}

{# Whether the catalog, with these schemas, has a relation. #}
{% macro _is_there(relation, schemas) -%}
    {{- return(relation.schema | lower in schemas and dbt_delta._is_in_catalog(relation)) -}}
{%- endmacro %}

{# The names of the catalog's schemas, in lower case. #}
{% macro _schemas() -%}
    {%- set names = [] -%}
    {%- for row in run_query('show schemas').rows -%}{%- do names.append(row[0] | lower) -%}{%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}
