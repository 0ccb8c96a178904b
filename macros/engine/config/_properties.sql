{#
    The table properties of the configuration, except those that only Databricks knows, which open-source Delta
    refuses, and except constraints, which have their own rules.
#}
{% macro _properties(format) -%}
    {%- set given = config.get('tblproperties') or {} -%}
    {%- if given is not mapping -%}
        {%- do dbt_delta._refuse("tblproperties is " ~ given ~ ". Use a mapping such as {key: value}.") -%}
    {%- endif -%}
    {%- set properties = {} -%}
    {%- if format == dbt_delta._target_format() -%}
        {%- do properties.update(dbt_delta._in_format('flag_properties')()) -%}
    {%- endif -%}
    {%- for key, value in given.items() if not dbt_delta._constraint_names({key: value}) -%}
        {%- set is_own = format == dbt_delta._target_format() and dbt_delta._is_format_property(key) -%}
        {%- set own = dbt_delta._in_format('own_properties')(key, value) if is_own else {key: value} -%}
        {%- if key | lower in ('comment', 'owner', 'provider', 'location', 'external', 'is_managed_location') -%}
            {%- do dbt_delta._refuse(
                "tblproperties has '" ~ key ~ "', which Spark reserves. "
                ~ ('Use description with persist_docs.' if key | lower == 'comment' else 'Remove it.')
            ) -%}
        {%- elif own -%}
            {%- do properties.update(own) -%}
        {%- elif own is not none -%}
            {%- do dbt_delta._warn_of_config(
                'tblproperties', key, of='Databricks' if format == 'delta' else 'Delta'
            ) -%}
        {%- else -%}
            {%- do dbt_delta._refuse(
                "tblproperties has '" ~ key ~ "', which Delta does not know. Correct it. The name of "
                ~ "your own property must not begin with 'delta.'."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(properties) -}}
{%- endmacro %}

{#
    Deletion vectors for tables whose rows are replaced one by one: a change then writes only the changed rows and not
    their whole files.
#}
{% macro _default_properties(settings, layout) -%}
    {%- if settings.strategy in ('merge', 'delete+insert')
        or (settings.strategy == 'insert_overwrite' and layout.clustering) -%}
        {{- return(dbt_delta._feature_properties(['deletion_vectors'])) -}}
    {%- endif -%}
    {{- return({}) -}}
{%- endmacro %}
