{# A version is the id of a snapshot, or the name of a branch or tag. #}
{% macro _iceberg__as_of(relation, version) -%}
    {{- return(dbt_delta._named(relation) ~ ' version as of ' ~ version) -}}
{%- endmacro %}

{% macro _iceberg__as_of_time(relation, time) -%}
    {{- return(dbt_delta._named(relation) ~ ' timestamp as of ' ~ dbt_delta._literal(time)) -}}
{%- endmacro %}

{# DROP alone would leave the files. #}
{% macro _iceberg__drop_sql(name, type) -%}
    {{- return('drop ' ~ type ~ ' if exists ' ~ name ~ (' purge' if type == 'table' else '')) -}}
{%- endmacro %}

{# The setting that tags commits with a text; see src/dbt_delta/session/tags.py. #}
{% macro _iceberg__tag_setting() -%}{{- return('spark.sql.iceberg.snapshot-property.dbt') -}}{%- endmacro %}

{# Catalogs list views apart. #}
{% macro _iceberg__names_sql(schema, name) -%}
    {%- set rest = ' in ' ~ dbt_delta._quoted(schema) ~ ' like ' ~ dbt_delta._literal(name) -%}
    {{- return({'tableName': 'show tables' ~ rest, 'viewName': 'show views' ~ rest}) -}}
{%- endmacro %}

{# The last statement of a swap. #}
{% macro _iceberg__after_swap_sql() -%}{{- return('select 1') -}}{%- endmacro %}

{# A batch that is stored for a moment. #}
{% macro _iceberg__staging_clause() -%}{{- return('using iceberg') -}}{%- endmacro %}

{# Whether ALTER VIEW takes another SELECT. #}
{% macro _iceberg__alters_views() -%}{{- return(false) -}}{%- endmacro %}

{# Whether what has to be written is looked for first, as a statement that changes nothing commits, too. #}
{% macro _iceberg__looks_first() -%}{{- return(true) -}}{%- endmacro %}

{# The settings with which a MERGE runs. #}
{% macro _iceberg__merge_settings(table, layout) -%}{{- return({}) -}}{%- endmacro %}

{# The columns of partitions that cannot hold every text: none. #}
{% macro _iceberg__text_partitions(partitions) -%}{{- return([]) -}}{%- endmacro %}

{# Iceberg has no integers of less than 32 bits, and no texts of a length. #}
{% macro _iceberg__stored_type(type) -%}
    {{- return(
        'int' if type in ('tinyint', 'smallint')
        else 'string' if type == 'void' or modules.re.match('(var)?char\\(', type) else type
    ) -}}
{%- endmacro %}

{# What the model builds, in messages. #}
{% macro _iceberg__a_table() -%}{{- return('an Iceberg table') -}}{%- endmacro %}
