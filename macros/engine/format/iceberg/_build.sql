{#
    What builds a table; see Delta's. A table of the same columns and partitions is overwritten, which keeps its history in
    one line and fails beside another writer. Any other is replaced, and Iceberg tells nobody whose commit that undoes: the
    numbers of the table's metadata files then have a gap. Both keep its properties, also what said that it lacks rows.
#}
{% macro _iceberg__build_sql(relation, sql, columns, layout, replace, replaced) -%}
    {%- set outdated = [] -%}
    {%- if 'dbt_delta.incomplete' in (replaced.properties if replaced is not none else {})
        and 'dbt_delta.incomplete' not in layout.properties -%}
        {%- do outdated.append(dbt_delta._unset_properties_sql(relation, ['dbt_delta.incomplete'])) -%}
    {%- endif -%}
    {%- if replaced is not none and dbt_delta._iceberg__is_overwritten(replaced, columns, layout) -%}
        {{- return({
            'sql': dbt_delta._iceberg__overwrite_all_sql(
                dict(replaced, name=dbt_delta._named(relation)), sql, is_new=true
            ),
            'lost_sql': none, 'after': outdated + dbt_delta.get_align_sql(replaced, layout),
        }) -}}
    {%- endif -%}
    {{- return({
        'sql': dbt_delta.get_create_table_sql(relation, sql, layout, replace=replace),
        'lost_sql': dbt_delta._iceberg__lost_sql(relation, replaced),
        'after': outdated,
    }) -}}
{%- endmacro %}

{# Whether a new version of a table has its columns and partitions. #}
{% macro _iceberg__is_overwritten(existing, columns, layout) -%}
    {%- if existing.columns | length != columns | length or existing.partitions | list != layout.partitions | list -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- for column in columns -%}
        {%- set found = existing.columns[loop.index0] -%}
        {%- if column.name != found.name or dbt_delta._stored_type(column.type) != found.type
            or found.nullable is false -%}
            {{- return(false) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}

{# A row if the metadata files of a table since `existing` have a gap: someone's commit was replaced. #}
{% macro _iceberg__lost_sql(relation, existing) -%}
{%- if existing is none -%}{{- return(none) -}}{%- endif -%}
{%- set number = existing.metadata -%}
select 1 as is_lost
from (
    select number, lag(number) over (order by number) as before
    from (
        select cast(regexp_extract(file, '([0-9]+)-[^/]*$', 1) as int) as number
        from {{ dbt_delta._named(relation) }}.metadata_log_entries
    )
)
where number > {{ number }} and before >= {{ number }} and number > before + 1
{%- endmacro %}

{# The SELECT of a new table, of types that can be stored, which fails for a row that violates a check. #}
{% macro _iceberg__built_sql(sql, columns, layout) -%}
    {%- set types = columns | map(attribute='type') | list -%}
    {%- if types | map('string') | list != dbt_delta._iceberg__stored_types(types) -%}
        {%- set sql = dbt_delta.get_staged_columns_sql('(\n' ~ sql ~ '\n)', columns) -%}
    {%- endif -%}
    {{- return(dbt_delta._iceberg__checked_sql({'name': dbt_delta._named(this), 'checks': layout.checks}, sql)) -}}
{%- endmacro %}

{% macro _iceberg__stored_types(types) -%}
    {%- set stored = [] -%}
    {%- for type in types -%}{%- do stored.append(dbt_delta._stored_type(type)) -%}{%- endfor -%}
    {{- return(stored) -}}
{%- endmacro %}

{# CREATE OR REPLACE would replace a table that another run has made meanwhile. #}
{% macro _iceberg__create_words() -%}{{- return('create table') -}}{%- endmacro %}

{% macro _iceberg__drop_check_sql(table, name) -%}
    {{- return(
        'alter table ' ~ table ~ ' unset tblproperties ('
        ~ dbt_delta._literal(dbt_delta._iceberg__constraint_property(name)) ~ ')'
    ) -}}
{%- endmacro %}

{% macro _iceberg__add_check_sql(table, name, expression) -%}
    {{- return(
        'alter table ' ~ table ~ ' set tblproperties '
        ~ dbt_delta._literal_pairs({dbt_delta._iceberg__constraint_property(name): expression})
    ) -}}
{%- endmacro %}
