{#
    A table that is written: the result of _existing, and `name`, its name in SQL. If the run follows a layout, a
    table without partitions has the clustering of the layout before its rows are written.
#}
{% macro _table(existing, layout=none) -%}
    {{- return(dict(
        existing,
        name=dbt_delta._named(existing.relation),
        clustering=layout.clustering if layout is not none and not existing.partitions else existing.clustering,
    )) -}}
{%- endmacro %}

{# Refuses a name in the configuration that is not a column of `giver`. #}
{% macro _refuse_missing(config_name, name, columns, giver) -%}
    {%- do dbt_delta._refuse(
        config_name ~ " names '" ~ name ~ "', which is not a column of " ~ giver ~ '. Its columns are '
        ~ columns | map(attribute='name') | join(', ') ~ '.'
    ) -%}
{%- endmacro %}

{# A column of the table that the configuration names. `what` says where, for the error if it does not exist. #}
{% macro _table_column(table, name, what) -%}
    {%- set column = dbt_delta._column(table.columns, name) -%}
    {%- if column is none -%}
        {%- do dbt_delta._refuse(
            what ~ ' is not a column of ' ~ table.name ~ '. Its columns are '
            ~ table.columns | map(attribute='name') | join(', ') ~ '.'
        ) -%}
    {%- endif -%}
    {{- return(column) -}}
{%- endmacro %}
