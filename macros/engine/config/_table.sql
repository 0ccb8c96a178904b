{#
    A table that is written: what _existing found of it, and `name`, as SQL names it. Where the run follows a
    layout, a table without partitions is clustered as that says before its rows are written.
#}
{% macro _table(existing, layout=none) -%}
    {{- return(dict(
        existing,
        name=dbt_delta._named(existing.relation),
        clustering=layout.clustering if layout is not none and not existing.partitions else existing.clustering,
    )) -}}
{%- endmacro %}

{# Refuses a name of the configuration that is not among the columns that `giver` gives. #}
{% macro _refuse_missing(config_name, name, columns, giver) -%}
    {%- do dbt_delta._refuse(
        config_name ~ " names '" ~ name ~ "', which " ~ giver ~ ' does not give. Its columns are '
        ~ columns | map(attribute='name') | join(', ') ~ '.'
    ) -%}
{%- endmacro %}

{# A column of the table that the configuration names; `what` says where, for the refusal of one that is not there. #}
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

{#
    Whether a table has a property; keys and values as Delta stores them. A feature is there or not, whatever the
    word; a table may need newer readers and writers than asked for.
#}
{% macro _has_property(properties, key, value) -%}
    {%- set found, wanted = properties.get(key), dbt_delta._plain(value) -%}
    {%- if key.startswith('delta.feature.') -%}
        {{- return(found is not none and wanted | lower in ('supported', 'enabled')) -}}
    {%- elif key in ('delta.minReaderVersion', 'delta.minWriterVersion') and found is not none -%}
        {{- return(found | int >= wanted | int) -}}
    {%- endif -%}
    {{- return(key == 'delta.ignoreProtocolDefaults' or found == wanted) -}}
{%- endmacro %}
