{#
    The snapshot's configuration, read once and checked before anything runs: {strategy, keys, updated_at,
    check_cols, hard_deletes, current, null_keys, late, sequence, delete_when, valid_from, scd_type, deletions} as
    configured; {from, to, id, updated, deleted}, what dbt's own columns are called; marks_deletions, whether a
    deletion of a feed is kept as a row that ends as it begins; keeps_deletions, whether it is a row at all;
    fills_deletions, whether such rows get their values from the history; ends_rows, whether keys that are gone end.
#}
{% macro _snapshot_settings() -%}
    {%- do dbt_delta._validate_platform() -%}
    {%- set meta = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
    {%- set key, hard_deletes = config.get('unique_key'), adapter.get_hard_deletes_behavior(config) -%}
    {%- set delete_when, deletions = config.get('cdc_delete_when'), config.get('cdc_deletions', 'remember') -%}
    {%- set marks = delete_when is not none and hard_deletes != 'new_record' and deletions == 'remember' -%}
    {%- set keeps = marks or hard_deletes == 'new_record' -%}
    {#- With --empty the source is empty by order, not because all was deleted. -#}
    {%- set settings = {
        'strategy': config.get('strategy'),
        'keys': [key] if key is string else key,
        'updated_at': config.get('updated_at'),
        'check_cols': config.get('check_cols'),
        'hard_deletes': hard_deletes,
        'current': config.get('dbt_valid_to_current'),
        'from': meta.dbt_valid_from,
        'to': meta.dbt_valid_to,
        'id': meta.dbt_scd_id,
        'updated': meta.dbt_updated_at,
        'deleted': meta.dbt_is_deleted,
        'null_keys': config.get('null_keys', 'match'),
        'late': config.get('scd2_late', 'ignore'),
        'sequence': dbt_delta._names(config.get('cdc_sequence_by')),
        'delete_when': delete_when,
        'valid_from': config.get('cdc_valid_from'),
        'scd_type': config.get('cdc_scd_type', 2) | int,
        'deletions': deletions,
        'marks_deletions': marks,
        'keeps_deletions': keeps,
        'fills_deletions': keeps and config.get('strategy') == 'cdc',
        'ends_rows': hard_deletes != 'ignore' and not flags.EMPTY and not dbt_delta._sample(),
    } -%}
    {%- do dbt_delta._validate_snapshot(settings) -%}
    {{- return(settings) -}}
{%- endmacro %}

{% macro _validate_snapshot(settings) -%}
    {%- for name, config_name, values in (
        ('null_keys', 'null_keys', ['match', 'error']),
        ('late', 'scd2_late', ['ignore', 'insert']),
        ('scd_type', 'cdc_scd_type', [1, 2]),
        ('deletions', 'cdc_deletions', ['remember', 'forget']),
    ) if settings[name] not in values -%}
        {%- do dbt_delta._refuse(
            config_name ~ " is '" ~ settings[name] ~ "'. It is one of " ~ values | join(', ') ~ '.'
        ) -%}
    {%- endfor -%}
    {%- if settings.late == 'insert' and settings.strategy != 'timestamp' -%}
        {%- do dbt_delta._refuse(
            "scd2_late: insert needs strategy timestamp, whose updated_at says when a change was; it is '"
            ~ settings.strategy ~ "'. Remove scd2_late, or use strategy cdc, which takes changes in any order."
        ) -%}
    {%- elif settings.strategy == 'cdc' and not settings.sequence -%}
        {%- do dbt_delta._refuse(
            'strategy cdc needs cdc_sequence_by: the columns by which the changes of a key are ordered.'
        ) -%}
    {%- elif settings.scd_type == 1 and settings.delete_when and settings.deletions != 'forget' -%}
        {%- do dbt_delta._refuse(
            'cdc_scd_type 1 has one row per key and no place for the deletions of cdc_delete_when: a change that is older '
            ~ 'and arrives after one would bring the key back, or not be among its last values. Use cdc_scd_type: 2, or '
            ~ 'say by cdc_deletions: forget that no change arrives after a later deletion, or that it does not matter.'
        ) -%}
    {%- elif settings.strategy != 'cdc' -%}
        {%- for name in ('cdc_sequence_by', 'cdc_delete_when', 'cdc_valid_from', 'cdc_scd_type', 'cdc_deletions')
            if config.get(name) is not none -%}
            {%- do dbt_delta._refuse(
                name ~ " is for strategy cdc; the strategy is '" ~ settings.strategy ~ "'. Remove it, or use cdc."
            ) -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}

{#
    The table that holds the history, as _existing gives it, with its name and the type of its
    dbt_is_deleted (none without); none before the first build. Refuses what is no history.
#}
{% macro _snapshot_table(existing, settings) -%}
    {%- if existing is none -%}{{- return(none) -}}{%- endif -%}
    {%- set name = dbt_delta._named(existing.relation) -%}
    {%- if existing.type == 'view' or existing.provider != 'delta' -%}
        {%- do dbt_delta._refuse(
            name ~ ' is a ' ~ ('view' if existing.type == 'view' else existing.provider ~ ' table')
            ~ ', not a Delta table, and a snapshot replaces nothing. Drop or rename it, or give the snapshot an alias.'
        ) -%}
    {%- endif -%}
    {%- set missing = [] -%}
    {%- for column in ([] if settings.scd_type == 1 else [settings.id, settings.updated, settings.from, settings.to])
        if dbt_delta._column(existing.columns, column) is none -%}
        {%- do missing.append(column) -%}
    {%- endfor -%}
    {%- if missing -%}
        {%- do dbt_delta._refuse(
            'Snapshot target is missing configured columns: missing "' ~ missing | join('", "') ~ '" of ' ~ name
            ~ '. It was not made by this snapshot: give the names that it has by snapshot_meta_column_names, '
            ~ 'or the snapshot an alias.'
        ) -%}
    {%- endif -%}
    {{- return(dict(existing, name=name)) -}}
{%- endmacro %}
