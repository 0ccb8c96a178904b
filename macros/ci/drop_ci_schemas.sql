{# Drops what create_ci_schemas created, with all that was built there. Files of production stay. #}
{% macro drop_ci_schemas(production) -%}
    {%- set schemas = dbt_delta._ci_schemas(production, 'drop_ci_schemas') -%}
    {%- for schema in dbt_delta._existing_ci_schemas(schemas, 'drop_ci_schemas') -%}
        {%- do dbt_delta._execute(dbt_delta.get_drop_ci_schema_sql(schema)) -%}
        {%- do log('drop_ci_schemas: dropped ' ~ schema, info=true) -%}
    {%- endfor -%}
{%- endmacro %}

{% macro get_drop_ci_schema_sql(schema) -%}
    drop schema {{ dbt_delta._quoted(schema) }} cascade
{%- endmacro %}

{# Those of the schemas that are in the catalog. Refuses all if create_ci_schemas did not create one of them. #}
{% macro _existing_ci_schemas(schemas, macro) -%}
    {%- set existing, known = [], dbt_delta._schemas() -%}
    {%- for schema in schemas if schema in known -%}
        {%- if dbt_delta._schema_comment(schema) != dbt_delta._ci_mark() -%}
            {%- do dbt_delta._refuse(
                macro ~ ': schema ' ~ schema ~ ' was not created by create_ci_schemas, so nothing is dropped. Give the '
                ~ 'pull request a schema of its own, or drop this one by hand.'
            ) -%}
        {%- endif -%}
        {%- do existing.append(schema) -%}
    {%- endfor -%}
    {{- return(existing) -}}
{%- endmacro %}
