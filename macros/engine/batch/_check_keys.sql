{#
    How keys of the batch can change when they are stored, {name, lost, count, problem}: the next run would not find
    such a key and would insert the row again. `lost` is the condition for one row. It is none if two keys become one.
#}
{% macro _key_losses(table, batch, settings, bounded) -%}
    {%- set losses = [] -%}
    {%- set partitions = dbt_delta._in_format('text_partitions')(table.partitions) | map('lower') | list -%}
    {%- set compared = partitions + bounded | map(attribute='name') | map('lower') | list -%}
    {%- for name in settings.unique_key -%}
        {%- set column = dbt_delta._column(batch.columns, name) -%}
        {%- set key = dbt_delta._quoted(name) -%}
        {%- if column is not none and not dbt_delta._fits(column.source_type, column.type) -%}
            {%- set altered = dbt_delta._altered(key, column.source_type, column.type) -%}
            {%- if altered -%}
                {%- do losses.append(dbt_delta._key_loss(
                    name, altered, 'would change: ' ~ name ~ ' is ' ~ column.source_type ~ ' in the model and '
                        ~ column.type ~ ' in the table. Cast ' ~ name ~ ' in the model'
                )) -%}
            {%- endif -%}
            {%- do losses.append({
                'name': name, 'lost': none,
                'count': 'count(distinct ' ~ key ~ ') - count(distinct '
                    ~ dbt_delta._stored(column) | replace('cast(', 'try_cast(', 1) ~ ')',
                'problem': 'would become equal to another key: ' ~ name ~ ' is ' ~ column.source_type
                    ~ ' in the model and ' ~ column.type ~ ' in the table. Cast ' ~ name ~ ' in the model',
            }) -%}
        {%- endif -%}
        {%- if column is not none and column.source_type == 'string' and name | lower in compared -%}
            {#- Statistics and partitions store another text for it. -#}
            {%- do losses.append(dbt_delta._key_loss(
                name, 'not is_valid_utf8(' ~ key ~ ')',
                'are not valid UTF-8. Correct them, or use hex(' ~ name ~ ') as the key'
            )) -%}
        {%- endif -%}
        {%- if column is not none and column.source_type == 'string' and name | lower in partitions -%}
            {%- do losses.append(dbt_delta._key_loss(
                name, dbt_delta._is_null_in_partition(key),
                'are an empty text or __HIVE_DEFAULT_PARTITION__, which Delta stores as NULL in a partition column. '
                    ~ 'Use another text, or NULL'
            )) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(losses) -}}
{%- endmacro %}

{% macro _key_loss(name, lost, problem) -%}
    {{- return({
        'name': name, 'lost': lost, 'problem': problem,
        'count': 'coalesce(sum(case when ' ~ lost ~ ' then __dbt_rows end), 0)',
    }) -}}
{%- endmacro %}

{% macro _refuses_duplicates(settings, is_build=false) -%}
    {{- return(
        settings.duplicate_keys == 'error'
        or (settings.strategy == 'merge' and settings.duplicate_keys is none and settings.unique_key | length > 0
            and (not is_build or (settings.delete_condition or '') | length > 0))
    ) -}}
{%- endmacro %}

{% macro _null_condition(keys) -%}
    {%- set conditions = [] -%}
    {%- for key in keys -%}{%- do conditions.append(dbt_delta._quoted(key) ~ ' is null') -%}{%- endfor -%}
    {{- return('where ' ~ conditions | join(' or ')) -}}
{%- endmacro %}
