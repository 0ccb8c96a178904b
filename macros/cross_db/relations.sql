{#
    For dbt_utils.get_relations_by_pattern and get_relations_by_prefix, whose own SQL asks information_schema: a SELECT of
    the tables and views of all schemas by patterns of ILIKE.
#}
{% macro spark__get_tables_by_pattern_sql(schema_pattern, table_pattern, exclude='', database=none) -%}
    {%- set found = [] -%}
    {%- for schema in dbt_delta._schemas() if dbt_delta._is_like(schema, schema_pattern) -%}
        {%- set views = [] -%}
        {%- for row in dbt_delta._ask('show views in ' ~ dbt_delta._quoted(schema)).rows if not row['isTemporary'] -%}
            {%- do views.append(row['viewName']) -%}
        {%- endfor -%}
        {%- for row in dbt_delta._ask('show tables in ' ~ dbt_delta._quoted(schema)).rows if not row['isTemporary'] -%}
            {%- set name = row['tableName'] -%}
            {%- set texts = dbt_delta._literals([schema, name, 'view' if name in views else 'table']) -%}
            {%- do found.append(texts | join(', '))
                if dbt_delta._is_like(name, table_pattern) and not dbt_delta._is_like(name, exclude) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set rows = found or ["'', '', ''"] -%}
    select * from values ({{ rows | join('), (') }}) as t (table_schema, table_name, table_type)
    {{- ' where false' if not found }}
{%- endmacro %}

{% macro _is_like(text, pattern) -%}
    {%- set expression = modules.re.escape(pattern) | replace('%', '.*') | replace('_', '.') -%}
    {{- return(modules.re.fullmatch('(?is)' ~ expression, text) is not none) -}}
{%- endmacro %}

{# dbt_utils.deduplicate, whose own joins the rows with themselves and so loses those with a NULL. #}
{% macro spark__deduplicate(relation, partition_by, order_by) -%}
    select * except (__dbt_number)
    from (
        select *, row_number() over (partition by {{ partition_by }} order by {{ order_by }}) as __dbt_number
        from {{ relation }}
    )
    where __dbt_number = 1
{%- endmacro %}
