{#
    A partition as partition_by and the catalog have it, {column, kind, number, text}: a column, or a transform of one
    such as days(ts), bucket(16, id) or truncate(4, name). A column may be called like a transform.
#}
{% macro _iceberg__partition(name, columns) -%}
    {%- set exact = dbt_delta._exact_path(columns, name) -%}
    {%- set found = modules.re.fullmatch(
        '\\s*(\\w+)\\s*\\(\\s*(?:(\\d+)\\s*,\\s*)?(.+?)\\s*(?:,\\s*(\\d+)\\s*)?\\)\\s*', name
    ) -%}
    {%- if exact is not none or not found -%}
        {{- return({'column': exact, 'kind': none, 'number': none, 'text': exact}) -}}
    {%- endif -%}
    {%- set kinds = {
        'year': 'years', 'years': 'years', 'month': 'months', 'months': 'months', 'day': 'days', 'days': 'days',
        'date': 'days', 'hour': 'hours', 'hours': 'hours', 'bucket': 'bucket', 'truncate': 'truncate',
    } -%}
    {%- set kind, number = kinds.get(found[1] | lower), found[2] or found[4] -%}
    {%- if kind is none or (kind in ('bucket', 'truncate')) != (number is not none) -%}
        {%- do dbt_delta._refuse(
            "partition_by has '" ~ name ~ "', which is no column and no transform of Iceberg. Use a column, or years, months, "
            ~ 'days or hours of a time, bucket(16, column) or truncate(4, column).'
        ) -%}
    {%- endif -%}
    {%- set column = dbt_delta._exact_path(columns, dbt_delta._names(found[3])[0]) -%}
    {{- return({
        'column': column, 'kind': kind, 'number': number,
        'text': none if column is none else kind ~ '(' ~ (number ~ ', ' if number else '') ~ column ~ ')',
    }) -}}
{%- endmacro %}

{# A partition of the configuration in the spelling of the columns; none without such a column. #}
{% macro _iceberg__exact_partition(columns, name) -%}
    {{- return(dbt_delta._iceberg__partition(name, columns).text) -}}
{%- endmacro %}

{# Partitions, as _iceberg__exact_partition returns them, for CREATE TABLE. #}
{% macro _iceberg__partitions_sql(partitions, columns) -%}
    {%- set texts = [] -%}
    {%- for name in partitions -%}
        {%- set one = dbt_delta._iceberg__partition(name, columns) -%}
        {%- set column = dbt_delta._quoted(one.column) -%}
        {%- do texts.append(
            column if one.kind is none else one.kind ~ '(' ~ (one.number ~ ', ' if one.number else '') ~ column ~ ')'
        ) -%}
    {%- endfor -%}
    {{- return(texts | join(', ')) -}}
{%- endmacro %}

{# The columns that partitions are made of. #}
{% macro _iceberg__partition_columns(table) -%}
    {%- set names = [] -%}
    {%- for name in table.partitions -%}
        {%- do names.append(dbt_delta._iceberg__partition(name, table.columns).column) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{# A partition's value of a row as SQL. #}
{% macro _iceberg__partition_value(one, alias) -%}
    {{- return(dbt_delta._iceberg__transformed(one, alias ~ '.' ~ dbt_delta._quoted(one.column))) -}}
{%- endmacro %}

{# A partition's value of a value of its column. Transforms are functions of the catalog. #}
{% macro _iceberg__transformed(one, value) -%}
    {{- return(
        value if one.kind is none else 'system.' ~ one.kind ~ '(' ~ (one.number ~ ', ' if one.number else '') ~ value ~ ')'
    ) -}}
{%- endmacro %}

{# The partitions as keys of a scope; see _scope. #}
{% macro _iceberg__partition_keys(table, batch) -%}
    {%- set keys = [] -%}
    {%- for name in table.partitions -%}
        {%- set one = dbt_delta._iceberg__partition(name, table.columns) -%}
        {%- set key = dbt_delta._scope_keys(table, batch, [one.column])[0] -%}
        {%- do keys.append({
            'old': dbt_delta._iceberg__transformed(one, key.old), 'new': dbt_delta._iceberg__transformed(one, key.new),
        }) -%}
    {%- endfor -%}
    {{- return(keys) -}}
{%- endmacro %}

{# Conditions for the rows whose partitions a batch replaces; see _replaced. #}
{% macro _iceberg__replaced_partitions(table, batch, dest) -%}
    {%- set same = [] -%}
    {%- for name in table.partitions -%}
        {%- set one = dbt_delta._iceberg__partition(name, table.columns) -%}
        {%- do same.append(
            dbt_delta._iceberg__partition_value(one, dest) ~ ' <=> ' ~ dbt_delta._iceberg__partition_value(one, '__dbt_new')
        ) -%}
    {%- endfor -%}
    {{- return([
        'exists (select 1 from ' ~ batch.from ~ ' as __dbt_new where ' ~ same | join(' and ') ~ ')',
    ]) -}}
{%- endmacro %}
