{#
    What a snapshot run is about to bring, made here once:
    sql, source_columns      the model and what it gives
    keys                     {text, name, label, type, given, altered}: an expression that source and table both
                             understand, the column's name if it is one, its name in messages; what the source gives
                             as the table stores it, and a condition of source rows for which that is another value
    columns                  those of the table without dbt's own: {name, type, source, source_type}; source is none
                             where the source has none
    changes                  of the table's schema, which the columns need
    updated                  {text, type}: when a row of the source changed
    row_changed, scd_id      what a strategy says of a row; none where it says nothing
    sequence, sequence_given, sequence_types, has_own_time   the order of a feed, what the source gives of it as the
                             table stores it, and whether its rows begin at another time than that of their order;
                             [] and false of others
    time, updated_type       the types of dbt_valid_from and dbt_updated_at
    deleted_type             that of dbt_is_deleted, none without; has_deletions: the table has it already
    is_counted               the source is expensive: its rows are counted by key as it is read, else its keys are
                             read again where need be
    staging, from            where the changes are staged
    The record that _stage_snapshot gives has {rows, bounds, has_ended_keys} too, which the check finds.
#}
{% macro _snapshot_batch(table, settings, layout) -%}
    {%- set sql = dbt_delta._inner_sql(compiled_code) -%}
    {%- set source_columns = dbt_delta._columns_of(sql) -%}
    {%- do dbt_delta._refuse_reserved(source_columns, settings) -%}
    {%- set staging = dbt_delta._beside(this, 'tmp') -%}
    {%- set keys = dbt_delta._snapshot_keys(sql, source_columns, table, settings) -%}
    {%- set is_counted = dbt_delta._is_expensive(sql, model.depends_on.nodes) -%}
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
        'staging': staging,
        'from': dbt_delta._named(staging),
    }) -}}
{%- endmacro %}

{% macro _refuse_reserved(source_columns, settings) -%}
    {%- for name in ([] if settings.scd_type == 1 else [settings.id, settings.updated, settings.from, settings.to])
        + [settings.deleted] if dbt_delta._column(source_columns, name) is not none -%}
        {%- do dbt_delta._refuse(
            "The source gives a column '" ~ name ~ "', which the snapshot adds itself. Leave it out or rename it, "
            ~ 'or give dbt another name by snapshot_meta_column_names.'
        ) -%}
    {%- endfor -%}
{%- endmacro %}

{# A name or an expression of the configuration as SQL: names of columns are quoted. #}
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
    An instant is one as soon as source or table say so: the other's days become instants beside it. Another type is
    compared as the table stores it: 0.1 is one number as float and another one as double.
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

{# A value of one type as a column of another one stores it; NULL where it cannot. #}
{% macro _as_stored(value, type, wanted) -%}
    {{- return(
        value if type == wanted else 'try_cast(' ~ value ~ ' as ' ~ wanted ~ ')' if dbt_delta._type_kind(wanted) == 'atomic'
        else dbt_delta._conformed(value, type, wanted)
    ) -}}
{%- endmacro %}

{# The type of an expression on a SELECT's columns; plans it only. #}
{% macro _type_of(expression, sql) -%}
    {{- return(dbt_delta._columns_of('select ' ~ expression ~ ' as value from (\n' ~ sql ~ ')')[0].type) -}}
{%- endmacro %}

{# What a strategy says: updated, row_changed, scd_id and what a feed is ordered by; see _snapshot_batch. #}
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
    Compared as the table will store it; a column or field that the table has not yet was NULL so far. What would be
    stored as another value is a change, so that it is staged, and refused.
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
    The types of the source's time, of dbt_valid_from and dbt_valid_to, which must be one that the run's own time
    fits in, and of dbt_updated_at: {type, time, updated_type}. The latest state has none of the last two.
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
        {#- Of a day nobody knows at which hour of it a row went away. -#}
        {%- set time = 'timestamp' if type == 'date' and closes else type -%}
    {%- endif -%}
    {%- if time not in ('timestamp', 'timestamp_ntz', 'date') and (closes or settings.strategy == 'cdc') -%}
        {%- do dbt_delta._refuse(
            (settings.valid_from or settings.updated_at or settings.sequence[0]) ~ ' is of type ' ~ time
            ~ ', and ' ~ dbt_delta._named(this) ~ ' must hold times of runs or changes as well. Cast it to '
            ~ 'timestamp or date.'
        ) -%}
    {%- endif -%}
    {%- set updated_type = type if table is none else dbt_delta._column(table.columns, settings.updated).type -%}
    {%- if type in ('timestamp', 'timestamp_ntz') and 'date' in (time, updated_type) -%}
        {%- do dbt_delta._refuse(
            (settings.valid_from or settings.updated_at or settings.sequence[0]) ~ ' is of type ' ~ type ~ ', and '
            ~ dbt_delta._named(this) ~ ' holds days: changes of one day could not be told apart. Nothing was written. '
            ~ 'Cast it to date.'
        ) if settings.strategy != 'check' -%}
    {%- endif -%}
    {{- return({'type': type, 'time': time, 'updated_type': updated_type}) -}}
{%- endmacro %}

{# Whether the time of the source's row is newer than that of the key's open row (strategy timestamp). #}
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

{# An enforced contract speaks of the source's columns, and of dbt's own where it names them. #}
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

{# How the table's schema changes: as incremental models with append_new_columns, and by dbt_is_deleted. #}
{% macro _snapshot_changes(source_columns, table, settings, layout) -%}
    {%- if table is none -%}{{- return([]) -}}{%- endif -%}
    {%- set changes = dbt_delta._schema_changes(
        source_columns, table, {'on_schema_change': 'append_new_columns'}, layout
    ) -%}
    {%- set adds = settings.hard_deletes == 'new_record'
        and dbt_delta._column(table.columns, settings.deleted) is none -%}
    {{- return(changes + ([{'kind': 'add', 'path': [settings.deleted], 'type': 'string'}] if adds else [])) -}}
{%- endmacro %}

{# The columns of the table after the run, without dbt's own, and what they come from; see _snapshot_batch. #}
{% macro _snapshot_columns(source_columns, table, settings) -%}
    {%- set own = [settings.deleted] if settings.scd_type == 1
        else [settings.id, settings.updated, settings.from, settings.to, settings.deleted] -%}
    {%- set own = own | map('lower') | list -%}
    {%- set after = source_columns if table is none
        else dbt_delta._columns_after(source_columns, table.columns, 'append_new_columns') -%}
    {%- set columns, partitions = [], (table.partitions if table else []) | map('lower') | list -%}
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

{# A history has one type per column: another one is stored if its values can be the same. #}
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
                ~ column.type ~ ', or give the new one another name.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
