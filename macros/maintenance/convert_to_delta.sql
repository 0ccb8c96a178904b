{#
    Turns a parquet table, or a folder of parquet files, into a Delta table in place: only a log is written. The
    partition columns of a folder are given with their types.
#}
{% macro convert_to_delta(source, partition_by=none, dry_run=false) -%}
    {%- do dbt_delta._in_format('check_operation')('convert_to_delta') -%}
    {%- if not execute -%}{{- return('') -}}{%- endif -%}
    {%- set is_path = source is string and '/' in source -%}
    {%- if partition_by is not none and partition_by is not mapping -%}
        {%- do dbt_delta._refuse(
            "convert_to_delta: partition_by is '" ~ partition_by ~ "'. Use names with types, as in {day: date}."
        ) -%}
    {%- endif -%}
    {%- if is_path -%}
        {%- set name = 'parquet.' ~ dbt_delta._quoted(source) -%}
    {%- else -%}
        {%- set relation = dbt_delta._relation_given(source, 'convert_to_delta') -%}
        {%- set name = dbt_delta._named(relation) -%}
        {%- set existing = dbt_delta._entry(relation) -%}
        {%- set kind = none if existing is none else 'view' if existing.type == 'view' else existing.provider -%}
        {%- if kind == 'delta' -%}
            {%- do log('convert_to_delta ' ~ name ~ ': it is already a Delta table', info=true) -%}
            {{- return('') -}}
        {%- elif kind != 'parquet' -%}
            {%- do dbt_delta._refuse(
                'convert_to_delta: ' ~ name ~ ' is ' ~ ('not in the catalog' if kind is none else 'a ' ~ kind)
                ~ '. Use a parquet table as schema.table, or a folder as /path/to/it.'
            ) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set sql = dbt_delta.get_convert_to_delta_sql(name, partition_by) -%}
    {%- if not dry_run -%}{%- do dbt_delta._execute(sql) -%}{%- endif -%}
    {%- do log((sql | replace('\n', ' ')) ~ (' (dry run)' if dry_run else ''), info=true) -%}
    {{- return('') -}}
{%- endmacro %}

{% macro get_convert_to_delta_sql(name, partition_by=none) -%}
convert to delta {{ name }}
{%- if partition_by %}
partitioned by (
    {%- for column, type in partition_by.items() -%}
        {{ dbt_delta._quoted(column) }} {{ type }}{{ ', ' if not loop.last }}
    {%- endfor -%}
)
{%- endif %}
{%- endmacro %}
