{#
    How keys of the batch can get lost on their way into the table, {count, problem}: what is stored is
    then another value, so that the next run does not find it and inserts the row once more.
#}
{% macro _key_losses(table, batch, settings, bounded) -%}
    {%- set losses = [] -%}
    {%- set partitions = table.partitions | map('lower') | list -%}
    {%- set compared = partitions + bounded | map(attribute='name') | map('lower') | list -%}
    {%- for name in settings.unique_key -%}
        {%- set column = dbt_delta._column(batch.columns, name) -%}
        {%- set key = dbt_delta._quoted(name) -%}
        {%- if column is not none and not dbt_delta._fits(column.source_type, column.type) -%}
            {%- set altered = dbt_delta._altered(key, column.source_type, column.type) -%}
            {%- if altered -%}
                {%- do losses.append({
                    'count': dbt_delta._rows_where(altered),
                    'problem': 'are ' ~ column.source_type ~ ' and another value as ' ~ column.type
                        ~ ', the type in the table. Cast ' ~ name ~ ' in the model',
                }) -%}
            {%- endif -%}
            {%- do losses.append({
                'count': 'count(distinct ' ~ key ~ ') - count(distinct '
                    ~ dbt_delta._stored(column) | replace('cast(', 'try_cast(', 1) ~ ')',
                'problem': 'are ' ~ column.source_type ~ ' and the same value as another one as ' ~ column.type
                    ~ ', the type in the table. Cast ' ~ name ~ ' in the model',
            }) -%}
        {%- endif -%}
        {%- if column is not none and column.source_type == 'string' and name | lower in compared -%}
            {#- Statistics and partitions have another text in their place. -#}
            {%- do losses.append({
                'count': dbt_delta._rows_where('not is_valid_utf8(' ~ key ~ ')'),
                'problem': 'are not valid UTF-8. Correct them, or use hex(' ~ name ~ ') as the key',
            }) -%}
        {%- endif -%}
        {%- if column is not none and column.source_type == 'string' and name | lower in partitions -%}
            {%- do losses.append({
                'count': dbt_delta._rows_where(key ~ " in ('', '__HIVE_DEFAULT_PARTITION__')"),
                'problem': 'are empty, and Delta stores an empty text in a partition column as NULL, as it does '
                    ~ '__HIVE_DEFAULT_PARTITION__. Give them a text, or NULL',
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(losses) -}}
{%- endmacro %}

{% macro _rows_where(condition) -%}
    {{- return('coalesce(sum(case when ' ~ condition ~ ' then __dbt_rows end), 0)') -}}
{%- endmacro %}

{% macro _null_condition(keys) -%}
    {%- set conditions = [] -%}
    {%- for key in keys -%}{%- do conditions.append(dbt_delta._quoted(key) ~ ' is null') -%}{%- endfor -%}
    {{- return('where ' ~ conditions | join(' or ')) -}}
{%- endmacro %}
