{% macro landed(table) -%}
{%- set folder = env_var('DBT_DELTA_HOME') ~ '/landing/' ~ table -%}
{%- if table == 'part' -%}
(
    select
        cast(p_partkey as bigint) as p_partkey, p_name, p_mfgr, p_brand, p_type, cast(p_size as int) as p_size,
        p_container, cast(p_retailprice as decimal(15, 2)) as p_retailprice, p_comment, op, cast(seq as int) as seq,
        cast(changed_at as timestamp) as changed_at, cast(delivered_at as timestamp) as delivered_at
    from csv.`{{ folder }}` with ('header' = 'true', 'escape' = '"')
)
{%- else -%}
(select * from parquet.`{{ folder }}` with ('mergeSchema' = 'true'))
{%- endif -%}
{%- endmacro %}
