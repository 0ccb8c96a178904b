{#
    dbt_utils.get_relations_by_pattern, whose own SQL asks information_schema: the tables and views of all schemas by
    patterns of ILIKE.
#}
{% macro spark__get_relations_by_pattern(schema_pattern, table_pattern, exclude='', database=none) -%}
    {%- set found = [] -%}
    {%- for schema in (dbt_delta._schemas() if execute else []) if dbt_delta._is_like(schema, schema_pattern) -%}
        {%- for one in dbt_delta._relations_of(schema) -%}
            {%- do found.append(api.Relation.create(schema=schema, identifier=one.name, type=one.type))
                if dbt_delta._is_like(one.name, table_pattern) and not dbt_delta._is_like(one.name, exclude) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# dbt_utils.get_relations_by_prefix. #}
{% macro spark__get_relations_by_prefix(schema, prefix, exclude='', database=none) -%}
    {{- return(dbt_delta.spark__get_relations_by_pattern(schema, prefix ~ '%', exclude)) -}}
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

{# For audit_helper.compare_and_classify_query_results: Spark has no distinct count over a window. #}
{% macro spark___count_num_rows_in_status() -%}
    {%- set key = ['dbt_audit_surrogate_key', 'dbt_audit_pk_row_num'] -%}
    dense_rank() over (partition by dbt_audit_row_status order by {{ key | join(', ') }})
    + dense_rank() over (partition by dbt_audit_row_status order by {{ key | join(' desc, ') }} desc)
    - 1
{%- endmacro %}
