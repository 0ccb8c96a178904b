{# Refuses a batch whose keys break the configuration, with the first five of them. #}
{% macro _check_keys(table, batch, settings, found, is_build=false) -%}
    {%- set keys = settings.unique_key -%}
    {%- if settings.null_keys == 'error' and found['null_rows'] | int > 0 -%}
        {%- do dbt_delta._refuse_keys(
            table, batch, keys, found['null_rows'] | int, 'null keys',
            where=dbt_delta._null_condition(keys),
            way_out='Filter them out, or set null_keys: match, which treats NULL as a key like any other.'
        ) -%}
    {%- elif dbt_delta._refuses_duplicates(settings, is_build) and found['duplicate_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_keys(
            table, batch, keys, found['duplicate_keys'] | int, 'duplicate keys',
            having='having count(*) > 1',
            way_out='Make the model give one row per key, or set duplicate_keys: latest with '
                ~ 'duplicate_keys_order_by.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# Refuses keys that the next run would not find. #}
{% macro _check_losses(table, batch, settings, losses, found) -%}
    {%- for loss in losses -%}
        {%- set count = found['lost_' ~ loop.index0] | int -%}
        {%- if count > 0 -%}
            {%- do dbt_delta._refuse_batch(
                batch,
                count ~ ' keys of the batch for ' ~ table.name ~ ' (unique_key ' ~ settings.unique_key | join(', ')
                ~ ') ' ~ loss.problem ~ '. Nothing was written.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _refuse_keys(table, batch, keys, total, problem, way_out, where='', having='') -%}
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
        'The batch for ' ~ table.name ~ ' has ' ~ problem ~ ' of unique_key ' ~ keys | join(', ')
        ~ ': ' ~ total ~ ', the first ' ~ examples | join(', ') ~ '. Nothing was written. ' ~ way_out
    ) -%}
{%- endmacro %}
