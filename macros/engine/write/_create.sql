{% macro get_create_table_sql(relation, sql, layout, replace=false) -%}
create{{ ' or replace' if replace }} table {{ dbt_delta._named(relation) }}
using {{ layout.format }}
{%- if layout.partitions %}
partitioned by ({{ dbt_delta._in_format('partitions_sql')(layout.partitions, layout.get('columns', [])) }})
{%- endif %}
{%- if layout.clustering %}
cluster by ({{ dbt_delta._quoted_paths(layout.clustering) }})
{%- endif %}
{%- if layout.buckets.columns %}
clustered by ({{ dbt_delta._quoted_list(layout.buckets.columns) }}) into {{ layout.buckets.count }} buckets
{%- endif %}
{%- if layout.options %}
options {{ dbt_delta._literal_pairs(layout.options) }}
{%- endif %}
{%- if layout.location %}
location {{ dbt_delta._literal(layout.location) }}
{%- endif %}
{%- if layout.comment %}
comment {{ dbt_delta._literal(layout.comment) }}
{%- endif %}
{%- set properties = dbt_delta._creation_properties(layout) %}
{%- if properties %}
tblproperties {{ dbt_delta._literal_pairs(properties) }}
{%- endif %}
as
{{ sql }}
{%- endmacro %}

{#
    The change feed of a table with column mapping is set by ALTER: Delta refuses a CREATE TABLE AS with both
    (DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION).
#}
{% macro _creation_properties(layout) -%}
    {%- set properties = dict(layout.defaults, **layout.properties) -%}
    {%- for name, expression in layout.checks.items() -%}
        {%- do properties.update({dbt_delta._constraint_property(name): expression}) -%}
    {%- endfor -%}
    {%- if dbt_delta._has_feature(properties, 'column_mapping') -%}
        {%- do properties.pop(dbt_delta._feature_property('change_feed').key, none) -%}
    {%- endif -%}
    {{- return(properties) -}}
{%- endmacro %}

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

{# The promised comment of a column, empty if it has no description; none if no comments are promised. #}
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
