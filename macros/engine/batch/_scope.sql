{# Which rows of a quarantine a run replaces; see get_new_quarantine_sql. #}
{% macro _scope(kind, where=none, keys=[], nulls=false) -%}
    {{- return({'kind': kind, 'where': where, 'keys': keys, 'nulls': nulls}) -}}
{%- endmacro %}

{# The rows that the strategy would replace in the table. A row with a NULL key replaces none: it is appended. #}
{% macro _batch_scope(table, batch, settings) -%}
    {%- set strategy = settings.strategy -%}
    {%- if strategy in ('replace_where', 'microbatch') -%}
        {%- set conditions = (dbt_delta._window(table) if strategy == 'microbatch' else []) + settings.predicates -%}
        {{- return(dbt_delta._scope('where', where=dbt_delta._all_of(conditions)) if conditions else dbt_delta._scope('none')) -}}
    {%- elif strategy == 'insert_overwrite' -%}
        {%- set places = table.clustering or table.partitions -%}
        {%- if not places -%}{{- return(dbt_delta._scope('all')) -}}{%- endif -%}
        {{- return(dbt_delta._scope('keys', keys=dbt_delta._scope_keys(table, batch, places), nulls=true)) -}}
    {%- elif strategy == 'append' or not settings.unique_key -%}
        {{- return(dbt_delta._scope('none')) -}}
    {%- endif -%}
    {{- return(dbt_delta._scope('keys', keys=dbt_delta._scope_keys(table, batch, settings.unique_key))) -}}
{%- endmacro %}

{% macro _scope_keys(table, batch, names) -%}
    {%- set keys = [] -%}
    {%- for name in names -%}
        {%- do keys.append({
            'old': 'old.' ~ dbt_delta._key(table, name), 'new': dbt_delta._key_of_batch(table, batch, name, 'judged'),
        }) -%}
    {%- endfor -%}
    {{- return(keys) -}}
{%- endmacro %}
