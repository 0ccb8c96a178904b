{#
    Key columns of the table by which files can be skipped. Their values appear in the statement and so in dbt's log:
    masked columns are used only if merge_prune names them.
#}
{% macro _bounded_keys(table, settings) -%}
    {%- set bounded = [] -%}
    {%- set prune = settings.prune -%}
    {%- if prune == 'off' or settings.by_source_action
        or settings.strategy not in ('merge', 'delete+insert') -%}
        {{- return(bounded) -}}
    {%- endif -%}
    {%- set masked = dbt_delta._masked_here() if prune is string else [] -%}
    {%- for key in settings.unique_key -%}
        {%- set column = dbt_delta._table_column(table, key, "unique_key '" ~ key ~ "'") -%}
        {%- if (prune is string or key | lower in prune | map('lower') | list)
            and dbt_delta._is_bounded(column) and not dbt_delta._is_masked(key, masked) -%}
            {%- do bounded.append(dbt_delta._bounded_key(table, column, dbt_delta._quoted(key))) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(bounded) -}}
{%- endmacro %}

{#
    Whether Spark and Delta's statistics order the values of this type in the same way. They do not for floating-point
    numbers and collated text.
#}
{% macro _is_bounded(column) -%}
    {%- set ordered = '(tinyint|smallint|int|bigint|date|timestamp|timestamp_ntz|string|decimal\\(.*)$' -%}
    {{- return(modules.re.match(ordered, column.type) is not none) -}}
{%- endmacro %}

{# A column of the target, and its name in the batch. #}
{% macro _bounded_key(table, column, name) -%}
    {{- return({
        'name': column.name,
        'type': column.type,
        'expression': 'unix_micros(try_cast(' ~ name ~ ' as timestamp))' if column.type == 'timestamp' else name,
        'is_partition': column.name in table.partitions and column.type != 'timestamp',
    }) -}}
{%- endmacro %}

{# What a check selects for the bounded keys: low_N, high_N, nulls_N, values_N. #}
{% macro _bound_values(bounded) -%}
    {%- for key in bounded %},
    cast(min({{ key.expression }}) as string) as low_{{ loop.index0 }},
    cast(max({{ key.expression }}) as string) as high_{{ loop.index0 }},
    count_if({{ key.expression }} is null) as nulls_{{ loop.index0 }},
    {{ "to_json(slice(array_sort(collect_set(cast(" ~ key.expression ~ " as string))), 1, 101))"
        if key.is_partition else 'null' }} as values_{{ loop.index0 }}
    {%- endfor -%}
{%- endmacro %}

{# The bounds that the check found, as SQL literals; none for types that differ. #}
{% macro _found_bounds(bounded, found, source_columns) -%}
    {%- set bounds = [] -%}
    {%- set whole = ['tinyint', 'smallint', 'int', 'bigint'] -%}
    {%- for key in bounded -%}
        {%- set source = dbt_delta._column(source_columns, key.name) -%}
        {%- set n = loop.index0 | string -%}
        {%- set texts = (found['values_' ~ n] or '') ~ (found['low_' ~ n] or '') ~ (found['high_' ~ n] or '') -%}
        {#- Invalid UTF-8 arrives as this character, which is not a bound. -#}
        {%- if (source.type == key.type or (source.type in whole and key.type in whole)) and '\ufffd' not in texts -%}
            {%- set values = fromjson(found['values_' ~ n] or '[]', []) -%}
            {%- set literals = [] -%}
            {%- for value in values -%}
                {%- do literals.append(dbt_delta._bound_literal(value, source.type)) -%}
            {%- endfor -%}
            {%- set low = found['low_' ~ n] -%}
            {%- do bounds.append({
                'name': key.name,
                'nulls': found['nulls_' ~ n] | int > 0,
                'values': literals if values | length <= 100 else [],
                'low': none if low is none else dbt_delta._bound_literal(low, source.type),
                'high': none if low is none else dbt_delta._bound_literal(found['high_' ~ n], source.type),
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(bounds) -}}
{%- endmacro %}

{% macro _bound_literal(text, type) -%}
    {%- if type == 'timestamp' -%}{{- return('timestamp_micros(' ~ text ~ ')') -}}
    {%- elif type in ('date', 'timestamp_ntz') -%}{{- return(type ~ "'" ~ text ~ "'") -}}
    {%- elif type == 'string' -%}{{- return(dbt_delta._literal(text)) -}}
    {%- elif type.startswith('decimal') -%}
        {#- Without ANSI a small one is shown as 1.2E-7, which as a number is a rounded double. -#}
        {%- set text = dbt_delta._literal(text) -%}
    {%- endif -%}
    {{- return('cast(' ~ text ~ ' as ' ~ type ~ ')') -}}
{%- endmacro %}

{# The bounds of the batch as conditions on the columns of `alias`. #}
{% macro _bounds(batch, alias) -%}
    {%- set conditions = [] -%}
    {%- for bound in batch.bounds -%}
        {%- do conditions.append(dbt_delta._bound(bound, alias ~ '.' ~ dbt_delta._quoted(bound.name))) -%}
    {%- endfor -%}
    {{- return(conditions) -}}
{%- endmacro %}

{% macro _bound(bound, column) -%}
    {%- set options = [] -%}
    {%- if bound.nulls -%}{%- do options.append(column ~ ' is null') -%}{%- endif -%}
    {%- if bound['values'] -%}
        {%- do options.append(column ~ ' in (' ~ bound['values'] | join(', ') ~ ')') -%}
    {%- elif bound.low is not none -%}
        {%- set range = column ~ ' >= ' ~ bound.low ~ ' and ' ~ column ~ ' <= ' ~ bound.high -%}
        {%- do options.append('(' ~ range ~ ')' if bound.nulls else range) -%}
    {%- endif -%}
    {{- return('(' ~ options | join(' or ') ~ ')' if options | length > 1 else options[0]) -}}
{%- endmacro %}
