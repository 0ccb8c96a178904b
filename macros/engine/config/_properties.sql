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
    {%- for name in ('auto_compact', 'optimize_write') if format == 'delta' and config.get(name) is not none -%}
        {%- do properties.update({dbt_delta._feature_property(name).key: dbt_delta._flag(name)}) -%}
    {%- endfor -%}
    {%- for key, value in given.items() if not key.startswith(dbt_delta._constraint_property('')) -%}
        {%- set is_own = format == 'delta' and dbt_delta._is_format_property(key) -%}
        {%- set known = dbt_delta._known_property(key) if is_own else none -%}
        {%- if key | lower in ('comment', 'owner', 'provider', 'location', 'external', 'is_managed_location') -%}
            {%- do dbt_delta._refuse(
                "tblproperties has '" ~ key ~ "', which Spark reserves. "
                ~ ('Use description with persist_docs.' if key | lower == 'comment' else 'Remove it.')
            ) -%}
        {%- elif not is_own -%}
            {%- do properties.update({key: value}) -%}
        {%- elif known is not none -%}
            {%- do properties.update({known: value}) -%}
        {%- elif dbt_delta._is_of_databricks(key) -%}
            {%- do dbt_delta._warn_of_config('tblproperties', key) -%}
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
