{# Refuses a batch whose keys are not what the configuration says, naming the first five. #}
{% macro _check_keys(target, batch, settings, found, is_build=false) -%}
    {%- set keys = settings.unique_key -%}
    {%- set refuse_duplicates = settings.duplicate_keys == 'error'
        or (settings.strategy == 'merge' and settings.duplicate_keys is none
            and (not is_build or settings.delete_condition)) -%}
    {%- if settings.null_keys == 'error' and found['null_rows'] | int > 0 -%}
        {%- do dbt_delta._refuse_keys(
            target, batch, keys, found['null_rows'] | int, 'null keys',
            where=dbt_delta._null_condition(keys),
            way_out="Filter them out, or set null_keys: match, by which NULL is a key like any other."
        ) -%}
    {%- elif refuse_duplicates and found['duplicate_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_keys(
            target, batch, keys, found['duplicate_keys'] | int, 'duplicate keys',
            having='having count(*) > 1',
            way_out='Make the model give one row per key, or set duplicate_keys: latest with '
                ~ 'duplicate_keys_order_by.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    How keys of the batch can get lost on their way into the table, {count, problem}: what is stored is
    then another value, so that the next run does not find it and inserts the row once more.
#}
{% macro _key_losses(target, batch, settings, bounded) -%}
    {%- set losses = [] -%}
    {%- set partitions = target.partitions | map('lower') | list -%}
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
                'problem': 'are no valid UTF-8. Correct them, or take hex(' ~ name ~ ') for a key',
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

{# Refuses keys that would not be found again. #}
{% macro _check_losses(target, batch, settings, losses, found) -%}
    {%- for loss in losses -%}
        {%- set count = found['lost_' ~ loop.index0] | int -%}
        {%- if count > 0 -%}
            {%- do dbt_delta._refuse_batch(
                batch,
                count ~ ' keys of the batch for ' ~ target.name ~ ', unique_key ' ~ settings.unique_key | join(', ')
                ~ ', ' ~ loss.problem ~ '. Nothing was written.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _null_condition(keys) -%}
    {%- set conditions = [] -%}
    {%- for key in keys -%}{%- do conditions.append(dbt_delta._quoted(key) ~ ' is null') -%}{%- endfor -%}
    {{- return('where ' ~ conditions | join(' or ')) -}}
{%- endmacro %}

{% macro _refuse_keys(target, batch, keys, total, problem, way_out, where='', having='') -%}
    {%- set list, fields = dbt_delta._quoted_list(keys), [] -%}
    {%- for key in keys -%}{%- do fields.append({'name': key, 'value': dbt_delta._quoted(key)}) -%}{%- endfor -%}
    {%- set rows = run_query(
        'select ' ~ dbt_delta._shown_json(fields, dbt_delta._masked_here()) ~ ' as key, count(*) as row_count from '
        ~ batch.from ~ ' ' ~ where ~ ' group by ' ~ list ~ ' ' ~ having ~ ' order by ' ~ list ~ ' limit 5'
    ).rows -%}
    {%- set examples = [] -%}
    {%- for row in rows -%}
        {%- do examples.append(row['key'] ~ ' (' ~ row['row_count'] | int ~ ' rows)') -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_batch(
        batch,
        'The batch for ' ~ target.name ~ ' has ' ~ problem ~ ' of unique_key ' ~ keys | join(', ')
        ~ ': ' ~ total ~ ', the first ' ~ examples | join(', ') ~ '. Nothing was written. ' ~ way_out
    ) -%}
{%- endmacro %}
