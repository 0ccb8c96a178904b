{# CREATE OR REPLACE VIEW with comments and properties; `columns` are needed for comments on them. #}
{% macro get_create_view_sql(name, sql, columns, promises, temporary=false) -%}
{%- set listed = [] -%}
{%- for column in columns -%}
    {%- set comment = dbt_delta._comment_of(column.name, promises.column_comments) -%}
    {%- do listed.append(
        dbt_delta._quoted(column.name)
        ~ (' comment ' ~ dbt_delta._literal(comment) if comment is not none else '')
    ) -%}
{%- endfor -%}
create or replace {{ 'temporary ' if temporary }}view {{ name }}
{%- if listed %} (
    {{ listed | join(',\n    ') }}
)
{%- endif %}
{%- if promises.comment %}
comment {{ dbt_delta._literal(promises.comment) }}
{%- endif %}
{%- if promises.properties %}
tblproperties {{ dbt_delta._literal_pairs(promises.properties) }}
{%- endif %}
as
{{ sql }}
{%- endmacro %}

{#
    Drops a temporary view, by its quoted name, that was needed for one statement. With the plugin it goes with its
    connection, which has a session of its own; without, all runs of a process share one.
#}
{% macro _drop_temporary_view(view) -%}
    {%- if adapter.dbt_delta_attempt is not defined -%}{%- do run_query('drop view if exists ' ~ view) -%}{%- endif -%}
{%- endmacro %}

{# The promised comment of a column, empty where it has none; none where nothing is promised. #}
{% macro _comment_of(name, comments) -%}
    {%- for column, comment in comments.items() if column | lower == name | lower -%}
        {{- return(comment) -}}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{% macro spark__get_create_materialized_view_as_sql(relation, sql) -%}
    {%- do dbt_delta._refuse(
        'materialized_view needs Databricks. Use incremental, or table with skip_unchanged: true.'
    ) -%}
{%- endmacro %}
