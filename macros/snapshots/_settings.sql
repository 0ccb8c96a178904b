{#
    The snapshot's configuration, read once and checked before anything runs: {strategy, keys, updated_at, check_cols,
    hard_deletes, current, null_keys, late, sequence, delete_when, valid_from, scd_type, deletions} as configured;
    {from, to, id, updated, deleted}, the names of dbt's own columns; marks_deletions: a deletion in a feed is kept as
    a row that ends when it begins; keeps_deletions: a deletion is kept as a row; fills_deletions: such rows get their
    values from the history; ends_rows: the rows of keys that are gone end.
#}
{% macro _snapshot_settings() -%}
    {%- do dbt_delta._validate_platform() -%}
    {%- set meta = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
    {%- set key, hard_deletes = config.get('unique_key'), adapter.get_hard_deletes_behavior(config) -%}
    {%- set delete_when, deletions = config.get('cdc_delete_when'), config.get('cdc_deletions', 'remember') -%}
    {%- set marks = delete_when is not none and hard_deletes != 'new_record' and deletions == 'remember' -%}
    {%- set keeps = marks or hard_deletes == 'new_record' -%}
    {#- With --empty the source is empty although nothing was deleted. -#}
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
    ) -%}
        {%- do dbt_delta._check_choice(config_name, settings[name], values) -%}
    {%- endfor -%}
    {%- if settings.late == 'insert' and settings.strategy != 'timestamp' -%}
        {%- do dbt_delta._refuse(
            "scd2_late: insert needs strategy timestamp, whose updated_at has the time of a change; the strategy is '"
            ~ settings.strategy ~ "'. Remove scd2_late, or use strategy cdc, which takes changes in any order."
        ) -%}
    {%- elif settings.strategy == 'cdc' and not settings.sequence -%}
        {%- do dbt_delta._refuse(
            'strategy cdc needs cdc_sequence_by, the columns that order the changes of a key.'
        ) -%}
    {%- elif settings.scd_type == 1 and settings.delete_when and settings.deletions != 'forget' -%}
        {%- do dbt_delta._refuse(
            'cdc_scd_type 1 has one row per key and cannot store the deletions of cdc_delete_when: an older change '
            ~ 'that arrives after a deletion would bring the key back, or its values would be lost. Use cdc_scd_type: 2, '
            ~ 'or set cdc_deletions: forget if no change arrives after a later deletion, or if this does not matter.'
        ) -%}
    {%- elif settings.strategy != 'cdc' -%}
        {%- for name in ('cdc_sequence_by', 'cdc_delete_when', 'cdc_valid_from', 'cdc_scd_type', 'cdc_deletions')
            if config.get(name) is not none -%}
            {%- do dbt_delta._refuse(
                name ~ " needs strategy cdc; the strategy is '" ~ settings.strategy ~ "'. Remove it, or use cdc."
            ) -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}

{#
    The table with the history, as _existing returns it, with its name and the type of its dbt_is_deleted (none
    without this column); none before the first build. Refuses a relation that is not a history.
#}
{% macro _snapshot_table(existing, settings) -%}
    {%- if existing is none -%}{{- return(none) -}}{%- endif -%}
    {%- set name = dbt_delta._named(existing.relation) -%}
    {%- if existing.type == 'view' or existing.provider != dbt_delta._target_format() -%}
        {%- do dbt_delta._refuse(
            name ~ ' is a ' ~ ('view' if existing.type == 'view' else existing.provider ~ ' table')
            ~ ', not ' ~ dbt_delta._in_format('a_table')() ~ '. A snapshot never replaces it. Drop or rename it, or give the snapshot an alias.'
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
            ~ '. This snapshot did not create it. Set snapshot_meta_column_names to the names in the table, '
            ~ 'or give the snapshot an alias.'
        ) -%}
    {%- endif -%}
    {{- return(dict(existing, name=name)) -}}
{%- endmacro %}
