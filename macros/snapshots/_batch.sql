{#
    The batch of a snapshot run:
    sql, source_columns      the model and its columns
    keys                     {text, name, label, type, given, altered}: an expression that is valid for source and table,
                             the column's name if it is a column, its name in messages; the source's value as the
                             table stores it, and a condition of source rows whose stored value would differ
    columns                  those of the table without dbt's own: {name, type, source, source_type}; source is none
                               if the source does not have the column
    changes                  the changes of the table's schema
    updated                  {text, type}: when a row of the source changed
    row_changed, scd_id      the strategy's own expressions for a row, or none
    sequence, sequence_given, sequence_types, has_own_time   the order of a feed, the source's value of it as the table
                               stores it, and whether its rows begin at another time than that of their order; [] and
                               false for other strategies
    time, updated_type       the types of dbt_valid_from and dbt_updated_at
    deleted_type             the type of dbt_is_deleted, or none; has_deletions: the table already has it
    is_counted               the source is expensive: its rows are counted by key while it is read; otherwise its keys
                               are read again if needed
    held                     the rows of the source that an expectation keeps out, or none
    staging, from            where the changes are staged
    _stage_snapshot returns this record with {rows, bounds, has_ended_keys}, the results of the check.
#}
{% macro _snapshot_batch(table, settings, layout, judged) -%}
    {%- set source_columns = dbt_delta._columns_of(judged.sql, stored=true) -%}
    {%- set sql = dbt_delta.get_guarded_sql(judged.sql, source_columns) -%}
    {%- do dbt_delta._refuse_reserved(source_columns, settings) -%}
    {%- set staging = dbt_delta._beside(this, 'tmp') -%}
    {%- set keys = dbt_delta._snapshot_keys(sql, source_columns, table, settings) -%}
    {%- set is_counted = judged.staging is none and dbt_delta._is_expensive(sql, model.depends_on.nodes) -%}
    {%- set columns = dbt_delta._snapshot_columns(source_columns, table, settings) -%}
    {%- set strategy = dbt_delta._snapshot_strategy(source_columns, columns, table, settings) -%}
    {%- set times = dbt_delta._snapshot_times(strategy.updated, sql, table, settings) -%}
    {%- do dbt_delta._check_snapshot_contract(source_columns, sql, times, settings) if settings.scd_type == 2 -%}
    {%- do dbt_delta._refuse_other_types(columns) -%}
    {%- set deleted = dbt_delta._column(table.columns, settings.deleted) if table is not none else none -%}
    {{- return({
        'sql': sql,
        'source_columns': source_columns,
        'keys': keys,
        'changes': dbt_delta._snapshot_changes(source_columns, table, settings, layout),
        'columns': columns,
        'updated': dict(strategy.updated, type=times.type),
        'row_changed': dbt_delta._is_newer_time(times, settings) if settings.strategy == 'timestamp'
            else strategy.row_changed,
        'scd_id': strategy.scd_id,
        'sequence': strategy.sequence,
        'sequence_given': strategy.sequence_given,
        'sequence_types': strategy.sequence_types,
        'has_own_time': strategy.has_own_time,
        'time': times.time,
        'updated_type': times.updated_type,
        'deleted_type': deleted.type if deleted is not none
            else 'string' if settings.hard_deletes == 'new_record' else none,
        'has_deletions': deleted is not none,
        'is_counted': is_counted,
        'held': dbt_delta._held_rows(judged),
        'staging': staging,
        'from': dbt_delta._named(staging),
    }) -}}
{%- endmacro %}

{# The rows of the source that do not reach the history, and are no deletions for that; none without any. #}
{% macro _held_rows(judged) -%}
    {%- if judged.staging is none or not judged.counts.quarantined + judged.counts.dropped -%}
        {{- return(none) -}}
    {%- endif -%}
    {{- return(
        '(select * from ' ~ judged.from ~ ' where ' ~ dbt_delta._breaks(judged.expectations, ['drop', 'quarantine']) ~ ')'
    ) -}}
{%- endmacro %}

{# Rows of the quarantine with a key of the source are replaced; of a feed, those of the same change. #}
{% macro _snapshot_scope(batch) -%}
    {%- set keys = [] -%}
    {%- for key in batch['keys'] -%}{%- do keys.append({'old': key.text, 'new': key.given}) -%}{%- endfor -%}
    {%- for text in batch.sequence -%}
        {%- do keys.append({'old': text, 'new': batch.sequence_given[loop.index0]}) -%}
    {%- endfor -%}
    {{- return(dbt_delta._scope('keys', keys=keys)) -}}
{%- endmacro %}

{% macro _refuse_reserved(source_columns, settings) -%}
    {%- for name in ([] if settings.scd_type == 1 else [settings.id, settings.updated, settings.from, settings.to])
        + [settings.deleted] if dbt_delta._column(source_columns, name) is not none -%}
        {%- do dbt_delta._refuse(
            "The source has a column '" ~ name ~ "', which the snapshot adds itself. Leave it out or rename it, "
            ~ "or rename dbt's column with snapshot_meta_column_names."
        ) -%}
    {%- endfor -%}
{%- endmacro %}

{# A column or an expression of the configuration as SQL; names of columns are quoted. #}
{% macro _column_or_expression(columns, text) -%}
    {%- set plain = text | string | trim or text | string -%}
    {%- if modules.re.match('`([^`]|``)+`$', plain) -%}
        {%- set plain = plain[1:-1] | replace('``', '`') -%}
    {%- endif -%}
    {%- set column = dbt_delta._column(columns, plain) -%}
    {{- return({
        'text': dbt_delta._quoted(column.name) if column else '(' ~ text ~ ')',
        'name': column.name if column else none,
        'label': column.name if column else text,
        'type': column.type if column else none,
    }) -}}
{%- endmacro %}

{#
    The keys. A key is a timestamp if it is one in the source or in the table. Another type is compared as the table
    stores it: 0.1 as float and 0.1 as double are one key then.
#}
{% macro _snapshot_keys(sql, source_columns, table, settings) -%}
    {%- set keys = [] -%}
    {%- for text in settings['keys'] -%}
        {%- set key = dbt_delta._column_or_expression(source_columns, text) -%}
        {%- set stored = dbt_delta._column(table.columns, key.name) if table and key.name else none -%}
        {%- set is_other = stored is not none and not dbt_delta._fits(key.type, stored.type) -%}
        {%- do keys.append(dict(
            key,
            type=stored.type if stored is not none and (is_other or stored.type == 'timestamp')
                else key.type or dbt_delta._type_of(key.text, sql),
            given=dbt_delta._as_stored(key.text, key.type, stored.type) if is_other else key.text,
            altered=dbt_delta._altered(key.text, key.type, stored.type) if is_other else '',
        )) -%}
    {%- endfor -%}
    {{- return(keys) -}}
{%- endmacro %}

{# A value as a column of another type stores it; NULL if it cannot. #}
{% macro _as_stored(value, type, wanted) -%}
    {{- return(
        value if type == wanted else 'try_cast(' ~ value ~ ' as ' ~ wanted ~ ')' if dbt_delta._type_kind(wanted) == 'atomic'
        else dbt_delta._conformed(value, type, wanted)
    ) -}}
{%- endmacro %}

{# The type of an expression on a SELECT's columns; Spark only plans it. #}
{% macro _type_of(expression, sql) -%}
    {{- return(dbt_delta._columns_of('select ' ~ expression ~ ' as value from (\n' ~ sql ~ ')')[0].type) -}}
{%- endmacro %}

{# The expressions of a strategy: updated, row_changed, scd_id and the order of a feed; see _snapshot_batch. #}
{% macro _snapshot_strategy(source_columns, columns, table, settings) -%}
    {%- if settings.strategy == 'cdc' -%}
        {{- return(dbt_delta._feed_strategy(source_columns, table, settings)) -}}
    {%- endif -%}
    {%- set custom = none if settings.strategy in ('timestamp', 'check') else strategy_dispatch(settings.strategy)(
        model, 'snapshotted_data', 'source_data', model['config'], table is not none
    ) -%}
    {%- set updated_at = settings.updated_at if custom is none else custom.updated_at -%}
    {{- return({
        'updated': dbt_delta._column_or_expression(source_columns, updated_at)
            if updated_at or settings.strategy != 'check' else {'text': '__dbt_now', 'type': 'timestamp'},
        'row_changed': custom.row_changed if custom is not none
            else dbt_delta._any_differs(
                dbt_delta._checked_columns(source_columns, columns, settings), [] if table is none else table.columns
            ) if settings.strategy == 'check' else none,
        'scd_id': custom.scd_id if custom is not none else none,
        'sequence': [], 'sequence_given': [], 'sequence_types': [], 'has_own_time': false,
    }) -}}
{%- endmacro %}

{% macro _checked_columns(source_columns, columns, settings) -%}
    {%- set all = source_columns | map(attribute='name') | list -%}
    {%- set checked = [] -%}
    {%- for name in (all if settings.check_cols == 'all' else dbt_delta._names(settings.check_cols)) -%}
        {%- if dbt_delta._column(source_columns, name) is none -%}
            {%- do dbt_delta._refuse_missing('check_cols', name, source_columns, 'the source') -%}
        {%- endif -%}
        {%- do checked.append(dbt_delta._column(columns, name)) -%}
    {%- endfor -%}
    {{- return(checked) -}}
{%- endmacro %}

{#
    Compared as the table stores it. A column or field that the table does not have yet counts as NULL. A value that
    the table would alter is a change, so that it is staged and refused.
#}
{% macro _any_differs(checked, found) -%}
    {%- set same = [] -%}
    {%- for column in checked -%}
        {%- set match = dbt_delta._column(found, column.name) -%}
        {%- set given = 'source_data.' ~ dbt_delta._quoted(column.source) -%}
        {%- if match is none -%}
            {%- do same.append(given ~ ' is null') -%}
        {%- else -%}
            {%- set value = dbt_delta._as_stored(given, column.source_type, column.type) -%}
            {%- set stored = dbt_delta._conformed(
                'snapshotted_data.' ~ dbt_delta._quoted(match.name), match.type, column.type
            ) -%}
            {%- do same.append(
                dbt_delta._comparable(stored, column.type) ~ ' <=> ' ~ dbt_delta._comparable(value, column.type)
            ) -%}
            {%- set altered = dbt_delta._altered(given, column.source_type, column.type) -%}
            {%- if altered -%}{%- do same.append('(' ~ altered ~ ') is not true') -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return('not (' ~ same | join(' and ') ~ ')') -}}
{%- endmacro %}

{#
    {type, time, updated_type}: the type of the source's time, that of dbt_valid_from and dbt_valid_to, which must
    hold the time of the run, and that of dbt_updated_at. The latest state does not have the last two.
#}
{% macro _snapshot_times(updated, sql, table, settings) -%}
    {%- if settings.scd_type == 1 -%}
        {{- return({'type': updated.type, 'time': none, 'updated_type': none}) -}}
    {%- endif -%}
    {%- set type = updated.type or dbt_delta._type_of(updated.text, sql) -%}
    {%- set closes = settings.hard_deletes != 'ignore' and settings.strategy != 'cdc' -%}
    {%- if table is not none -%}
        {%- set time = dbt_delta._column(table.columns, settings.from).type -%}
    {%- else -%}
        {#- A date does not say at which hour a row disappeared. -#}
        {%- set time = 'timestamp' if type == 'date' and closes else type -%}
    {%- endif -%}
    {%- if time not in ('timestamp', 'timestamp_ntz', 'date') and (closes or settings.strategy == 'cdc') -%}
        {%- do dbt_delta._refuse(
            (settings.valid_from or settings.updated_at or settings.sequence[0]) ~ ' is of type ' ~ time
            ~ ', but ' ~ dbt_delta._named(this) ~ ' also stores times of runs or changes. Cast it to '
            ~ 'timestamp or date.'
        ) -%}
    {%- endif -%}
    {%- set updated_type = type if table is none else dbt_delta._column(table.columns, settings.updated).type -%}
    {%- if type in ('timestamp', 'timestamp_ntz') and 'date' in (time, updated_type) -%}
        {%- do dbt_delta._refuse(
            (settings.valid_from or settings.updated_at or settings.sequence[0]) ~ ' is of type ' ~ type ~ ', but '
            ~ dbt_delta._named(this) ~ ' stores dates: it could not distinguish changes of one day. Nothing was '
            ~ 'written. Cast it to date.'
        ) if settings.strategy != 'check' -%}
    {%- endif -%}
    {{- return({'type': type, 'time': time, 'updated_type': updated_type}) -}}
{%- endmacro %}

{# Whether the time of the source row is later than that of the key's open row (strategy timestamp). #}
{% macro _is_newer_time(times, settings) -%}
    {%- set own = 'source_data.__dbt_own_time' -%}
    {{- return(
        'coalesce(snapshotted_data.' ~ dbt_delta._quoted(settings.updated) ~ ', '
        ~ dbt_delta._as_time('snapshotted_data.' ~ dbt_delta._quoted(settings.from), times.time, times.updated_type)
        ~ ') < ' ~ (
            dbt_delta._as_time(own, times.type, times.updated_type)
            if times.type in ('date', 'timestamp', 'timestamp_ntz') else own
        )
    ) -}}
{%- endmacro %}

{# An enforced contract covers the source's columns, and dbt's own if it names them. #}
{% macro _check_snapshot_contract(source_columns, sql, times, settings) -%}
    {%- set columns, selected = source_columns | list, ['*'] -%}
    {%- for name, type in (
        (settings.id, 'string'), (settings.updated, times.updated_type), (settings.from, times.time),
        (settings.to, times.time), (settings.deleted, 'string'),
    ) if dbt_delta._column(model.columns.values(), name) is not none -%}
        {%- do columns.append({'name': name, 'type': type}) -%}
        {%- do selected.append('cast(null as ' ~ type ~ ') as ' ~ dbt_delta._quoted(name)) -%}
    {%- endfor -%}
    {%- do dbt_delta._check_contract(
        columns, 'select ' ~ selected | join(', ') ~ ' from (\n' ~ sql ~ ')'
    ) -%}
{%- endmacro %}

{# Changes of the table's schema: as with append_new_columns of incremental models, and a new dbt_is_deleted. #}
{% macro _snapshot_changes(source_columns, table, settings, layout) -%}
    {%- if table is none -%}{{- return([]) -}}{%- endif -%}
    {%- set changes = dbt_delta._schema_changes(
        source_columns, table, {'on_schema_change': 'append_new_columns'}, layout
    ) -%}
    {%- set adds = settings.hard_deletes == 'new_record'
        and dbt_delta._column(table.columns, settings.deleted) is none -%}
    {{- return(changes + ([{'kind': 'add', 'path': [settings.deleted], 'type': 'string'}] if adds else [])) -}}
{%- endmacro %}

{# The columns of the table after the run, without dbt's own, and their sources; see _snapshot_batch. #}
{% macro _snapshot_columns(source_columns, table, settings) -%}
    {%- set own = [settings.deleted] if settings.scd_type == 1
        else [settings.id, settings.updated, settings.from, settings.to, settings.deleted] -%}
    {%- set own = own | map('lower') | list -%}
    {%- set after = source_columns if table is none
        else dbt_delta._columns_after(source_columns, table.columns, 'append_new_columns') -%}
    {%- set columns, partitions = [], dbt_delta._in_format('text_partitions')(table.partitions if table else []) -%}
    {%- set partitions = partitions | map('lower') | list -%}
    {%- for column in after if column.name | lower not in own -%}
        {%- set source = dbt_delta._column(source_columns, column.name) -%}
        {%- do columns.append({
            'name': column.name,
            'type': 'string' if column.type == 'void' else column.type,
            'source': source.name if source else none,
            'source_type': source.type if source else none,
            'is_partition': column.name | lower in partitions,
        }) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{# A history has one type per column. Refuses another type unless its values can be stored in that type. #}
{% macro _refuse_other_types(columns) -%}
    {%- for column in columns if column.source is not none and not dbt_delta._fits(column.source_type, column.type) -%}
        {%- set families = [] -%}
        {%- for type in (column.source_type, column.type) -%}
            {%- do families.append(
                'number' if modules.re.match('(tinyint|smallint|int|bigint|float|double|decimal)', type)
                else 'time' if modules.re.match('(date|timestamp)', type) else type.split('<')[0]
            ) -%}
        {%- endfor -%}
        {%- if families[0] != families[1] -%}
            {%- do dbt_delta._refuse(
                'Column ' ~ column.name ~ ' is ' ~ column.source_type ~ ' in the source and ' ~ column.type ~ ' in '
                ~ dbt_delta._named(this) ~ ': a history has one type per column. Nothing was written. Cast it to '
                ~ column.type ~ ', or rename the new column.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
