{#
    What a snapshot run is about to bring: {sql, source_columns, keys, columns, time, updated,
    deleted_type, changes, staging, from, and what the check finds}. Keys are {text, name, label}:
    an expression that source and table both understand, the column's name if it is one, and
    its name in messages. Columns are those of the table but for dbt's own: {name, type, source,
    source_type}, source none where the source has none. `time` is the type of dbt_valid_from;
    `has_deletions` says that the table has dbt_is_deleted already, `is_counted` that the source is
    expensive: its rows are counted by key as it is read, else its keys are read again where need be.
#}
{% macro _snapshot_batch(table, settings, layout) -%}
    {%- set sql = dbt_delta._inner_sql(compiled_code) -%}
    {%- set source_columns = dbt_delta._columns_of(sql) -%}
    {%- do dbt_delta._refuse_reserved(source_columns, settings) -%}
    {%- set staging = dbt_delta._beside(this, 'tmp') -%}
    {%- set batch = {
        'sql': sql,
        'source_columns': source_columns,
        'keys': dbt_delta._snapshot_keys(sql, source_columns, table, settings),
        'changes': [],
        'is_counted': dbt_delta._is_expensive(sql, model.depends_on.nodes),
        'staging': staging,
        'from': dbt_delta._named(staging),
        'deleted_type': 'string' if settings.hard_deletes == 'new_record' else none,
    } -%}
    {%- if settings.strategy == 'cdc' -%}
        {%- do dbt_delta._plan_cdc(batch, table, settings) -%}
    {%- else -%}
        {%- do dbt_delta._plan_strategy(batch, table, settings) -%}
    {%- endif -%}
    {%- if settings.scd_type == 2 -%}
        {%- do dbt_delta._plan_times(batch, table, settings) -%}
        {%- do dbt_delta._settle_current(batch, table, settings) -%}
        {%- do dbt_delta._check_snapshot_contract(batch, settings) -%}
    {%- endif -%}
    {%- do dbt_delta._plan_snapshot_columns(batch, table, settings, layout) -%}
    {{- return(batch) -}}
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

{# An instant is one as soon as source or table say so: the other's days become instants beside it. #}
{% macro _snapshot_keys(sql, source_columns, table, settings) -%}
    {%- set keys = [] -%}
    {%- for text in settings['keys'] -%}
        {%- set key = dbt_delta._column_or_expression(source_columns, text) -%}
        {%- set stored = dbt_delta._column(table.columns, key.name) if table and key.name else none -%}
        {%- do key.update({
            'type': 'timestamp' if stored is not none and stored.type == 'timestamp'
                else key.type or dbt_delta._type_of(key.text, sql),
        }) -%}
        {%- do keys.append(key) -%}
    {%- endfor -%}
    {{- return(keys) -}}
{%- endmacro %}

{# The type of an expression on a SELECT's columns; plans it only. #}
{% macro _type_of(expression, sql) -%}
    {{- return(dbt_delta._columns_of('select ' ~ expression ~ ' as value from (\n' ~ sql ~ ')')[0].type) -}}
{%- endmacro %}

{# What says that a row changed, and when: {updated, row_changed, scd_id}. #}
{% macro _plan_strategy(batch, table, settings) -%}
    {%- set columns = batch.source_columns -%}
    {%- if settings.strategy == 'timestamp' -%}
        {%- do batch.update({'updated': dbt_delta._column_or_expression(columns, settings.updated_at)}) -%}
    {%- elif settings.strategy == 'check' -%}
        {%- do batch.update({
            'updated': dbt_delta._column_or_expression(columns, settings.updated_at)
                if settings.updated_at else {'text': '__dbt_now', 'type': 'timestamp'},
            'row_changed': dbt_delta._any_differs(
                dbt_delta._checked_columns(columns, settings), [] if table is none else table.columns
            ),
        }) -%}
    {%- else -%}
        {%- set custom = strategy_dispatch(settings.strategy)(
            model, 'snapshotted_data', 'source_data', model['config'], table is not none
        ) -%}
        {%- do batch.update({
            'updated': dbt_delta._column_or_expression(columns, custom.updated_at),
            'row_changed': custom.row_changed,
            'scd_id': custom.scd_id,
        }) -%}
    {%- endif -%}
{%- endmacro %}

{% macro _checked_columns(columns, settings) -%}
    {%- if settings.check_cols == 'all' -%}{{- return(columns) -}}{%- endif -%}
    {%- set checked = [] -%}
    {%- for name in dbt_delta._names(settings.check_cols) -%}
        {%- set column = dbt_delta._column(columns, name) -%}
        {%- if column is none -%}
            {%- do dbt_delta._refuse(
                "check_cols names '" ~ name ~ "', which the source does not give. Its columns are "
                ~ columns | map(attribute='name') | join(', ') ~ '.'
            ) -%}
        {%- endif -%}
        {%- do checked.append(column) -%}
    {%- endfor -%}
    {{- return(checked) -}}
{%- endmacro %}

{# Compared as the table stores it; a column that the table has not yet was NULL so far. #}
{% macro _any_differs(checked, found) -%}
    {%- set same = [] -%}
    {%- for column in checked -%}
        {%- set name = dbt_delta._quoted(column.name) -%}
        {%- set match = dbt_delta._column(found, column.name) -%}
        {%- if match is none -%}
            {%- do same.append('source_data.' ~ name ~ ' is null') -%}
        {%- else -%}
            {%- set value = dbt_delta._value(
                {'source': column.name, 'source_type': column.type, 'type': match.type}, 'source_data'
            ) -%}
            {%- if column.type != match.type and dbt_delta._type_kind(match.type) == 'atomic' -%}
                {%- set value = 'try_cast(' ~ value ~ ' as ' ~ match.type ~ ')' -%}
            {%- endif -%}
            {%- do same.append(
                dbt_delta._comparable('snapshotted_data.' ~ dbt_delta._quoted(match.name), match.type)
                ~ ' <=> ' ~ dbt_delta._comparable(value, match.type)
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return('not (' ~ same | join(' and ') ~ ')') -}}
{%- endmacro %}

{# The type of dbt_valid_from and dbt_valid_to, which must be one that the run's own time fits in. #}
{% macro _plan_times(batch, table, settings) -%}
    {%- set type = batch.updated.type or dbt_delta._type_of(batch.updated.text, batch.sql) -%}
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
    {%- do batch.update({
        'time': time, 'updated_type': updated_type, 'updated': dict(batch.updated, type=type),
    }) -%}
    {%- if settings.strategy == 'timestamp' -%}
        {%- set own = 'source_data.__dbt_updated_at' -%}
        {%- do batch.update({
            'row_changed': 'coalesce(snapshotted_data.' ~ dbt_delta._quoted(settings.updated) ~ ', '
                ~ dbt_delta._as_time('snapshotted_data.' ~ dbt_delta._quoted(settings.from), time, updated_type) ~ ') < '
                ~ (dbt_delta._as_time(own, type, updated_type) if type in ('date', 'timestamp_ntz') else own),
        }) -%}
    {%- endif -%}
{%- endmacro %}

{# An enforced contract speaks of the source's columns, and of dbt's own where it names them. #}
{% macro _check_snapshot_contract(batch, settings) -%}
    {%- set columns, selected = batch.source_columns | list, ['*'] -%}
    {%- for name, type in (
        (settings.id, 'string'), (settings.updated, batch.updated_type), (settings.from, batch.time),
        (settings.to, batch.time), (settings.deleted, batch.deleted_type or 'string'),
    ) if dbt_delta._column(model.columns.values(), name) is not none -%}
        {%- do columns.append({'name': name, 'type': type}) -%}
        {%- do selected.append('cast(null as ' ~ type ~ ') as ' ~ dbt_delta._quoted(name)) -%}
    {%- endfor -%}
    {%- do dbt_delta._check_contract(
        columns, 'select ' ~ selected | join(', ') ~ ' from (\n' ~ batch.sql ~ ')'
    ) -%}
{%- endmacro %}

{# Which columns the table has, from what they come, and which it lacks. #}
{% macro _plan_snapshot_columns(batch, table, settings, layout) -%}
    {%- set own = [settings.deleted] if settings.scd_type == 1
        else [settings.id, settings.updated, settings.from, settings.to, settings.deleted] -%}
    {%- set own = own | map('lower') | list -%}
    {%- set after = batch.source_columns -%}
    {%- if table is not none -%}
        {%- set mode = {'on_schema_change': 'append_new_columns'} -%}
        {%- do batch.update({
            'changes': dbt_delta._schema_changes(batch.source_columns, table, mode, layout),
        }) -%}
        {%- set after = dbt_delta._columns_after(batch.source_columns, table.columns, 'append_new_columns') -%}
        {%- set deleted = dbt_delta._column(table.columns, settings.deleted) -%}
        {%- if deleted is not none -%}
            {%- do batch.update({'deleted_type': deleted.type, 'has_deletions': true}) -%}
        {%- elif batch.deleted_type is not none -%}
            {%- do batch.changes.append({'kind': 'add', 'path': [settings.deleted], 'type': 'string'}) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set columns = [] -%}
    {%- for column in after if column.name | lower not in own -%}
        {%- set source = dbt_delta._column(batch.source_columns, column.name) -%}
        {%- do dbt_delta._refuse_other_type(source, column) -%}
        {%- do columns.append({
            'name': column.name,
            'held': '__dbt_c' ~ loop.index,
            'type': 'string' if column.type == 'void' else column.type,
            'source': source.name if source else none,
            'source_type': source.type if source else none,
        }) -%}
    {%- endfor -%}
    {%- do batch.update({'columns': columns}) -%}
{%- endmacro %}

{# A history has one type per column: another one is stored if its values can be the same. #}
{% macro _refuse_other_type(source, column) -%}
    {%- if source is none or dbt_delta._fits(source.type, column.type) -%}{{- return(none) -}}{%- endif -%}
    {%- set families = [] -%}
    {%- for type in (source.type, column.type) -%}
        {%- do families.append(
            'number' if modules.re.match('(tinyint|smallint|int|bigint|float|double|decimal)', type)
            else 'time' if modules.re.match('(date|timestamp)', type) else type.split('<')[0]
        ) -%}
    {%- endfor -%}
    {%- if families[0] != families[1] -%}
        {%- do dbt_delta._refuse(
            'Column ' ~ column.name ~ ' is ' ~ source.type ~ ' in the source and ' ~ column.type ~ ' in '
            ~ dbt_delta._named(this) ~ ': a history has one type per column. Nothing was written. Cast it to '
            ~ column.type ~ ', or give the new one another name.'
        ) -%}
    {%- endif -%}
{%- endmacro %}
