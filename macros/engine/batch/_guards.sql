{#
    The SELECT of a batch that was not staged. Its source may change after the batch was checked: the write fails at a
    row that the checks would refuse, or that is outside of the bounds of the keys.
#}
{% macro get_unchanged_batch_sql(table, batch, settings) -%}
    {%- set guards = dbt_delta._guards(table, batch, settings) -%}
    {%- if not guards -%}{{- return('select * from ' ~ batch.from) -}}{%- endif -%}
    {%- set changed = dbt_delta._literal(
        'The source of ' ~ table.name ~ ' changed during the write. Nothing was written. '
        ~ 'Run the model again, or set stage: table.'
    ) -%}
    {%- set values = [] -%}
    {%- for column in batch.source_columns -%}
        {%- set name = dbt_delta._quoted(column.name) -%}
        {%- set conditions = guards.get(column.name | lower) -%}
        {%- do values.append(
            name if not conditions
            else 'if(' ~ conditions | join(' and ') ~ ', ' ~ name ~ ', raise_error(' ~ changed ~ ')) as ' ~ name
        ) -%}
    {%- endfor -%}
    {{- return('select\n    ' ~ values | join(',\n    ') ~ '\nfrom ' ~ batch.from ~ ' as batch') -}}
{%- endmacro %}

{# What the checks found true for every row, by the column that fails otherwise: {name: [condition]}. #}
{% macro _guards(table, batch, settings) -%}
    {%- set guards = {} -%}
    {#- The batch of a user's own strategy was not checked. -#}
    {%- if dbt_delta._is_fixed(settings) or settings.strategy not in dbt_delta._strategies() -%}
        {{- return(guards) -}}
    {%- endif -%}
    {%- set keys = settings.unique_key if dbt_delta._checks_batch(settings) else [] -%}
    {#- Without a NULL among them the write may lack the marker that NULLs need. -#}
    {%- set never_null = settings.null_keys == 'error' or (
        batch.null_rows == 0 and dbt_delta._marker(table, dict(batch, null_rows=1), settings) == 'nulls'
    ) -%}
    {%- for key in keys -%}
        {%- set name = dbt_delta._quoted(key) -%}
        {%- set conditions = guards.setdefault(key | lower, []) -%}
        {%- if loop.first and dbt_delta._refuses_duplicates(settings) -%}
            {%- set stored = [] -%}
            {%- for other in keys -%}
                {%- do stored.append(dbt_delta._stored(dbt_delta._column(batch.columns, other))) -%}
            {%- endfor -%}
            {%- do conditions.append('count(*) over (partition by ' ~ stored | join(', ') ~ ') = 1') -%}
        {%- endif -%}
        {%- if never_null -%}{%- do conditions.append(name ~ ' is not null') -%}{%- endif -%}
        {%- for bound in batch.bounds if bound.name | lower == key | lower -%}
            {%- do conditions.append(dbt_delta._bound(bound, name)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for loss in dbt_delta._key_losses(table, batch, settings, batch.bounds) if keys and loss.lost is not none -%}
        {%- do guards.setdefault(loss.name | lower, []).append('(' ~ loss.lost ~ ') is not true') -%}
    {%- endfor -%}
    {%- for column in dbt_delta._value_losses(batch, keys) -%}
        {%- do guards.setdefault(column.source | lower, []).append('(' ~ column.altered ~ ') is not true') -%}
    {%- endfor -%}
    {{- return(guards) -}}
{%- endmacro %}
