{# The model's incremental configuration, read once and checked before anything runs. #}
{% macro _incremental_settings() -%}
    {#- A list, as dbt documents it, limits the rows that are deleted. A text, as in dbt-databricks, also limits the
        batch. The difference matters only for delete+insert. -#}
    {%- set given, predicates = config.get('predicates') or config.get('incremental_predicates') or [], [] -%}
    {%- for predicate in ([given] if given is string else given) -%}
        {%- do predicates.append(dbt_delta._condition(predicate)) -%}
    {%- endfor -%}
    {%- set strategy = config.get('incremental_strategy') or 'merge' -%}
    {%- set applies = strategy == 'changes' and context.get('get_incremental_changes_sql') is none -%}
    {%- set order, prune = config.get('duplicate_keys_order_by'), config.get('merge_prune', 'auto') -%}
    {%- set settings = {
        'strategy': 'merge' if applies else strategy,
        'applies_changes': applies,
        'unique_key': dbt_delta._names(config.get('unique_key')),
        'predicates': predicates | select | list,
        'predicates_limit_batch': given is string,
        'on_schema_change': config.get('on_schema_change') or 'ignore',
        'source_alias': dbt_delta._source_alias(),
        'target_alias': dbt_delta._target_alias(),
        'update_columns': dbt_delta._names(config.get('merge_update_columns')),
        'exclude_columns': dbt_delta._names(config.get('merge_exclude_columns')),
        'matched_condition': dbt_delta._condition(config.get('matched_condition')),
        'delete_condition': dbt_delta._condition(config.get('matched_delete_condition')),
        'control_columns': dbt_delta._names(config.get('merge_control_columns')),
        'by_source_action': dbt_delta._condition(config.get('not_matched_by_source_action')),
        'by_source_condition': dbt_delta._condition(config.get('not_matched_by_source_condition')),
        'skip_matched': dbt_delta._flag('skip_matched_step'),
        'skip_not_matched': dbt_delta._flag('skip_not_matched_step'),
        'schema_evolution': dbt_delta._flag('merge_with_schema_evolution'),
        'skip_unchanged': dbt_delta._flag('merge_skip_unchanged', applies),
        'prune': [prune] if prune is string and prune not in ('auto', 'off') else prune,
        'stage': config.get('stage', 'auto'),
        'null_keys': config.get('null_keys', 'match'),
        'duplicate_keys': config.get('duplicate_keys'),
        'duplicate_keys_order_by': order if order is string or not order else order | join(', '),
    } -%}
    {%- if applies -%}{%- set settings = dbt_delta._applying(settings) -%}{%- endif -%}
    {%- set inserted = dbt_delta._condition(config.get('not_matched_condition')) -%}
    {%- do dbt_delta._validate(settings, inserted) -%}
    {{- return(dict(
        settings, not_matched_condition=dbt_delta._insert_condition(inserted, settings)
    )) -}}
{%- endmacro %}

{# Strategy changes is a merge that deletes by _change_type; see new_changes. #}
{% macro _applying(settings) -%}
    {%- for name, value in {
        'matched_delete_condition': settings.delete_condition, 'merge_control_columns': settings.control_columns,
        'not_matched_by_source_action': settings.by_source_action,
    }.items() if value -%}
        {%- do dbt_delta._refuse(
            name ~ ' has no meaning for incremental_strategy changes, which deletes the rows whose _change_type is delete. '
            ~ 'Remove it, or use merge.'
        ) -%}
    {%- endfor -%}
    {%- if not settings.unique_key -%}
        {%- do dbt_delta._refuse(
            'incremental_strategy changes needs unique_key, by which it finds the rows that changed.'
        ) -%}
    {%- endif -%}
    {{- return(dict(
        settings, delete_condition=settings.source_alias ~ ".`_change_type` = 'delete'", control_columns=['_change_type']
    )) -}}
{%- endmacro %}

{# A condition of the configuration without comments and blanks around it, or none. #}
{% macro _condition(given) -%}
    {{- return(dbt_delta._inner_sql(given | string).strip() if given is not none else none) -}}
{%- endmacro %}

{# Which rows without a match are inserted. A row that means a delete is never inserted. #}
{% macro _insert_condition(given, settings) -%}
    {%- set deletes = settings.delete_condition -%}
    {%- if not deletes or dbt_delta._mentions(deletes, [settings.target_alias]) -%}{{- return(given) -}}{%- endif -%}
    {{- return(('(' ~ given ~ ') and ' if given else '') ~ '(' ~ deletes ~ ') is not true') -}}
{%- endmacro %}

{% macro _strategies() -%}
    {{- return(['append', 'merge', 'insert_overwrite', 'replace_where', 'delete+insert', 'microbatch']) -}}
{%- endmacro %}

{% macro _validate(settings, inserted) -%}
    {%- set strategies = dbt_delta._strategies() -%}
    {%- set custom = 'get_incremental_' ~ (settings.strategy | replace('+', '_')) ~ '_sql' -%}
    {%- if settings.strategy not in strategies and context.get(custom) is none -%}
        {%- do dbt_delta._refuse(
            "incremental_strategy is '" ~ settings.strategy ~ "'. Use one of "
            ~ strategies | join(', ') ~ ', changes, or write your own strategy as a macro ' ~ custom ~ '(arg_dict).'
        ) -%}
    {%- endif -%}
    {%- for name, values in {
        'on_schema_change': ['ignore', 'append_new_columns', 'sync_all_columns', 'fail'],
        'duplicate_keys': ['error', 'latest'],
        'null_keys': ['match', 'error'],
        'stage': ['auto', 'view', 'table'],
    }.items() if settings[name] is not none -%}
        {%- do dbt_delta._check_choice(name, settings[name], values) -%}
    {%- endfor -%}
    {%- do dbt_delta._validate_keys(settings) -%}
    {%- if settings.strategy == 'merge' -%}
        {%- do dbt_delta._validate_merge(settings, inserted) -%}
    {%- elif settings.delete_condition or settings.control_columns -%}
        {%- do dbt_delta._refuse(
            'matched_delete_condition and merge_control_columns need incremental_strategy merge, but it is '
            ~ settings.strategy ~ '.'
        ) -%}
    {%- endif -%}
    {%- if settings.strategy == 'microbatch' -%}{%- do dbt_delta._validate_microbatch() -%}{%- endif -%}
    {%- do dbt_delta._validate_platform() -%}
{%- endmacro %}

{# Without the plugin dbt counts batches back from now, whatever lookback_from says. #}
{% macro _validate_microbatch() -%}
    {%- if not config.get('event_time') -%}
        {%- do dbt_delta._refuse(
            'incremental_strategy microbatch needs event_time, the column that decides which rows a batch replaces.'
        ) -%}
    {%- elif config.get('lookback_from') == 'inputs' and adapter.dbt_delta_select is not defined
        and not invocation_args_dict.get('event_time_end') and not dbt_delta._sample() -%}
        {%- do dbt_delta._refuse(
            "lookback_from: inputs needs dbt_delta's plugin, which this environment has not: dbt would count the batches "
            ~ 'back from now. Name them by --event-time-start and --event-time-end.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{% macro _validate_keys(settings) -%}
    {%- if settings.strategy == 'delete+insert' and not settings.unique_key -%}
        {%- do dbt_delta._refuse(
            'incremental_strategy delete+insert needs unique_key: it replaces the rows that have a key of the batch. '
            ~ 'Without a key, use append or replace_where.'
        ) -%}
    {%- elif settings.duplicate_keys == 'latest' and not settings.duplicate_keys_order_by -%}
        {%- do dbt_delta._refuse(
            "duplicate_keys 'latest' needs duplicate_keys_order_by, such as 'updated_at desc': "
            ~ 'it keeps the first row of each key in that order.'
        ) -%}
    {%- elif (settings.duplicate_keys or settings.null_keys == 'error') and not settings.unique_key -%}
        {%- do dbt_delta._refuse('duplicate_keys and null_keys need unique_key, which is not set.') -%}
    {%- endif -%}
    {%- set format, own = dbt_delta._format(), dbt_delta._target_format() -%}
    {%- if format != own and (settings.duplicate_keys or settings.null_keys == 'error') -%}
        {%- do dbt_delta._refuse(
            'duplicate_keys and null_keys need file_format ' ~ own ~ '; it is ' ~ format ~ ', whose batches nobody looks at.'
        ) -%}
    {%- elif format != own and settings.unique_key and not config.get('incremental_strategy') -%}
        {%- do dbt_delta._refuse(
            'unique_key ' ~ settings.unique_key | join(', ') ~ ' says nothing with file_format ' ~ format
            ~ ' and no incremental_strategy: dbt-spark appends then, and a key comes again with each run. Use file_format '
            ~ own ~ ', or set incremental_strategy: append if that is meant.'
        ) -%}
    {%- endif -%}
    {%- set keys = settings.unique_key | map('lower') | list -%}
    {%- for column in ([] if settings.prune is string else settings.prune) if column | lower not in keys -%}
        {%- do dbt_delta._refuse(
            "merge_prune names '" ~ column ~ "', which is not in unique_key " ~ settings.unique_key
            ~ ': the merge would not find a row whose ' ~ column ~ ' changed. Use key columns, auto or off.'
        ) -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _validate_merge(settings, inserted) -%}
    {%- set action = settings.by_source_action -%}
    {%- set words = dbt_delta._tokens(action or '') -%}
    {%- if settings.delete_condition and not settings.unique_key -%}
        {%- do dbt_delta._refuse('matched_delete_condition needs unique_key, which finds the rows to delete.') -%}
    {%- elif action is not none and words != ['delete'] and (words[:2] != ['update', 'set'] or words | length < 3) -%}
        {%- do dbt_delta._refuse(
            "not_matched_by_source_action is '" ~ action ~ "'. Use 'delete' or 'update set <column> = <value>'."
        ) -%}
    {%- elif settings.by_source_condition is not none and action is none -%}
        {%- do dbt_delta._refuse(
            'not_matched_by_source_condition needs not_matched_by_source_action: delete, or update set ..'
        ) -%}
    {%- elif settings.skip_matched and settings.skip_not_matched and action is none
        and not settings.delete_condition -%}
        {%- do dbt_delta._refuse(
            'skip_matched_step and skip_not_matched_step together leave the merge nothing to do. Remove one.'
        ) -%}
    {%- elif settings.delete_condition and not inserted and not settings.skip_not_matched
        and dbt_delta._mentions(settings.delete_condition, [settings.target_alias]) -%}
        {%- do dbt_delta._refuse(
            'matched_delete_condition reads ' ~ settings.target_alias ~ ', so it cannot decide which rows without a '
            ~ 'match to insert. Set not_matched_condition, or skip_not_matched_step.'
        ) -%}
    {%- endif -%}
{%- endmacro %}
