{# A partition of the configuration in the spelling of the columns; none without such a column. #}
{% macro _delta__exact_partition(columns, name) -%}
    {{- return(dbt_delta._exact_path(columns, name)) -}}
{%- endmacro %}

{% macro _delta__partitions_sql(partitions, columns) -%}
    {{- return(dbt_delta._quoted_list(partitions)) -}}
{%- endmacro %}

{# The columns that partitions are made of. #}
{% macro _delta__partition_columns(table) -%}{{- return(table.partitions) -}}{%- endmacro %}

{# The partitions as keys of a scope; see _scope. #}
{% macro _delta__partition_keys(table, batch) -%}
    {{- return(dbt_delta._scope_keys(table, batch, table.partitions)) -}}
{%- endmacro %}

{# Conditions for the rows whose partitions a batch replaces; see _replaced. #}
{% macro _delta__replaced_partitions(table, batch, dest) -%}
    {#- IN skips partitions but never finds the NULL partitions, which are few. -#}
    {%- set partitions, is_null = dbt_delta._quoted_list(table.partitions), [] -%}
    {%- for name in table.partitions -%}
        {%- do is_null.append(dest ~ '.' ~ dbt_delta._quoted(name) ~ ' is null') -%}
    {%- endfor -%}
    {{- return([
        '(' ~ partitions ~ ') in (select ' ~ partitions ~ ' from ' ~ batch.from ~ ')',
        '(' ~ is_null | join(' or ') ~ ') and '
            ~ dbt_delta._is_in_batch(table, batch, table.partitions, dest),
    ]) -}}
{%- endmacro %}
