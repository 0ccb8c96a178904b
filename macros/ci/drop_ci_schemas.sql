{# Drops what create_ci_schemas created, with all that was built there. Files of production stay. #}
{% macro drop_ci_schemas(production) -%}
    {%- for schema in dbt_delta._ci_schemas(production, 'drop_ci_schemas') -%}
        {%- if dbt_delta._drop_ci_schema(schema, 'drop_ci_schemas') -%}
            {%- do log('drop_ci_schemas: dropped ' ~ schema, info=true) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# Drops a schema of a pull request: whether it was there. Any other schema of that name is refused. #}
{% macro _drop_ci_schema(schema, macro) -%}
    {%- if schema not in dbt_delta._schemas() -%}{{- return(false) -}}{%- endif -%}
    {%- if dbt_delta._schema_comment(schema) != dbt_delta._ci_mark() -%}
        {%- do dbt_delta._refuse(
            macro ~ ': schema ' ~ schema ~ ' was not created by create_ci_schemas, so it is not dropped. Give the pull '
            ~ 'request a schema of its own, or drop this one by hand.'
        ) -%}
    {%- endif -%}
    {%- do run_query('drop schema ' ~ dbt_delta._quoted(schema) ~ ' cascade') -%}
    {{- return(true) -}}
{%- endmacro %}
