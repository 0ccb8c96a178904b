{#
    A table to maintain: {id, relation, location, node, thresholds, zorder, pins}. `id` is its number among the tables
    of a call; `pins` are those of views that read old versions, see _pins.sql. With its log it has `state` (see
    _state), in a plan also `floor`, `steps` (see _step) and `reclaimable`, in bytes.
#}
{% macro _maintained(id, relation, location, node, thresholds=none) -%}
    {{- return({
        'id': id,
        'relation': relation,
        'location': dbt_delta._plain_location(location),
        'node': node,
        'thresholds': thresholds if node is none else dbt_delta._thresholds(node),
        'zorder': [] if node is none else dbt_delta._names(node.config.get('zorder')),
        'pins': [],
    }) -}}
{%- endmacro %}

{#
    The thresholds above which maintenance is worth it: from the model's `maintenance`, then from the variable
    dbt_delta_maintenance, then the defaults.
#}
{% macro _thresholds(node) -%}
    {%- set chosen = {
        'small_file_mb': 128,
        'min_small_files': 8,
        'deleted_share': 0.1,
        'unordered_share': 0.1,
        'reclaimable_share': 0.2,
        'target_file_mb': 1024,
    } -%}
    {%- set given = [('The variable dbt_delta_maintenance', var('dbt_delta_maintenance', {}))] -%}
    {%- if node is not none -%}
        {%- do given.append(('maintenance of ' ~ node.name, node.config.get('maintenance') or {})) -%}
    {%- endif -%}
    {%- for where, values in given -%}
        {%- if values is not mapping -%}
            {%- do dbt_delta._refuse(where ~ ' is ' ~ values ~ '. Use a mapping such as {min_small_files: 20}.') -%}
        {%- endif -%}
        {%- for name, value in values.items() -%}
            {%- if name not in chosen -%}
                {%- do dbt_delta._refuse(
                    where ~ " has '" ~ name ~ "'. It may have " ~ chosen.keys() | join(', ') ~ '.'
                ) -%}
            {%- elif value is not number or value is boolean or value <= 0 -%}
                {%- do dbt_delta._refuse(where ~ ' has ' ~ name ~ " '" ~ value ~ "'. Use a number above 0.") -%}
            {%- endif -%}
            {%- do chosen.update({name: value}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {#- A file that OPTIMIZE writes does not count as small. -#}
    {{- return(dict(
        chosen,
        small_file_bytes=([chosen.small_file_mb, chosen.target_file_mb / 2] | min * 1048576) | int,
        target_file_bytes=(chosen.target_file_mb * 1048576) | int,
    )) -}}
{%- endmacro %}

{# As in dbt-databricks, a model or a variable may switch OPTIMIZE off. #}
{% macro _is_skipped(node) -%}
    {%- set given = [
        node.config.get('skip_optimize'), var('databricks_skip_optimize', none), var('DATABRICKS_SKIP_OPTIMIZE', none),
    ] -%}
    {%- for value in given if dbt_delta._is_true(value) -%}{{- return(true) -}}{%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# The partitions of a table that are worth rewriting: {order, orders, small, deleted}. #}
{% macro _due_parts(table) -%}
    {%- set limits, orders, small, deleted = table.thresholds, [], [], [] -%}
    {%- set order = 'unclustered' if table.state.clustering else 'unsorted' if table.zorder else none -%}
    {%- for part in table.state.parts -%}
        {%- set files, bytes = part.get((order or '') ~ '_files', 0), part.get((order or '') ~ '_bytes', 0) -%}
        {%- set after = (part.small_bytes / limits.target_file_bytes) | round(0, 'ceil') -%}
        {%- if part.files > 1 and bytes >= limits.unordered_share * part.bytes
            and (files >= limits.min_small_files or bytes >= limits.small_file_bytes) -%}
            {%- do orders.append(part) -%}
        {%- else -%}
            {%- if part.small_files >= limits.min_small_files and after <= part.small_files / 2 -%}
                {%- do small.append(part) -%}
            {%- endif -%}
            {%- if part.deleted_rows and part.deleted_rows >= limits.deleted_share * part.rows -%}
                {%- do deleted.append(part) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({'order': order, 'orders': orders, 'small': small, 'deleted': deleted}) -}}
{%- endmacro %}

{#
    Steps that rewrite files: a step that orders the rows, if the table has an order, which makes other steps
    unnecessary; otherwise steps for fewer files and no deleted rows.
#}
{% macro _rewrites(table) -%}
    {%- set state, due, relation, steps = table.state, dbt_delta._due_parts(table), table.relation, [] -%}
    {%- if due.order == 'unclustered' -%}
        {%- for part in due.orders -%}
            {#- OPTIMIZE of a clustered table rewrites all files that are not in a large cluster. -#}
            {%- do steps.append(dbt_delta._step(table, 'cluster', dbt_delta._optimize_sql(relation), due.orders, part.bytes,
                part.unclustered_bytes + 4194304 * part.small_files,
                dbt_delta._share(part.unclustered_bytes, part.bytes) ~ ' of the bytes are not clustered by '
                ~ state.clustering | join(', '))) -%}
        {%- endfor -%}
    {%- else -%}
        {%- for parts in dbt_delta._chunks(due.orders) -%}
            {%- do steps.append(dbt_delta._step(table, 'zorder',
                dbt_delta._optimize_sql(relation, dbt_delta._parts_sql(state, parts), table.zorder),
                parts, parts | sum(attribute='bytes'),
                parts | sum(attribute='unsorted_bytes') + 4194304 * parts | sum(attribute='small_files'),
                dbt_delta._share(parts | sum(attribute='unsorted_bytes'), parts | sum(attribute='bytes'))
                ~ ' of the bytes are not ordered by ' ~ table.zorder | join(', '))) -%}
        {%- endfor -%}
        {%- for parts in dbt_delta._chunks(due.small) -%}
            {%- do steps.append(dbt_delta._step(table, 'compact',
                dbt_delta._optimize_sql(relation, dbt_delta._parts_sql(state, parts)),
                parts, parts | sum(attribute='small_bytes'), 4194304 * parts | sum(attribute='small_files'),
                '{:,}'.format(parts | sum(attribute='small_files')) ~ ' files are smaller than '
                ~ table.thresholds.small_file_mb ~ ' MB')) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for parts in dbt_delta._chunks(due.deleted) -%}
        {%- do steps.append(dbt_delta._step(table, 'purge',
            dbt_delta._purge_sql(relation, dbt_delta._parts_sql(state, parts)),
            parts, parts | sum(attribute='deleted_bytes'),
            (parts | sum(attribute='bytes') * parts | sum(attribute='deleted_rows')
                / [1, parts | sum(attribute='rows')] | max) | int,
            dbt_delta._share(parts | sum(attribute='deleted_rows'), parts | sum(attribute='rows'))
            ~ ' of the rows in the files are deleted')) -%}
    {%- endfor -%}
    {{- return(steps) -}}
{%- endmacro %}

{# The plan of a table with its state and its floor: the table with `reclaimable` and `steps`. #}
{% macro _planned(table) -%}
    {%- set bytes = dbt_delta._reclaimable(table) -%}
    {%- set live = table.state.parts | sum(attribute='bytes') -%}
    {%- set steps = [] if dbt_delta._is_skipped(table.node) else dbt_delta._rewrites(table) -%}
    {%- if bytes and bytes >= table.thresholds.reclaimable_share * live and not table.floor.blocked -%}
        {%- do steps.append(dbt_delta._step(table, 'vacuum', none, table.state.parts, 0, bytes,
            dbt_delta._bytes(bytes) ~ ' left the table more than ' ~ dbt_delta._hours_text(table.floor.hours) ~ ' ago')) -%}
    {%- endif -%}
    {{- return(dict(table, reclaimable=bytes, steps=steps)) -}}
{%- endmacro %}

{# Bytes of files that left the table before the floor and that no VACUUM has removed yet. #}
{% macro _reclaimable(table) -%}
    {{- return(dbt_delta._dead_bytes(table, table.state.now - table.floor.hours * 3600000)) -}}
{%- endmacro %}

{# Bytes of files that left the table, before a time in milliseconds, and that no VACUUM has removed yet. #}
{% macro _dead_bytes(table, limit=9000000000000000000) -%}
    {%- set state = table.state -%}
    {%- set start, end = state.operations.get('VACUUM START'), state.operations.get('VACUUM END') -%}
    {%- set removed = namespace(until=0) -%}
    {%- if start and end and end.timestamp >= start.timestamp -%}
        {%- set about = start.operationParameters -%}
        {%- set removed.until = start.timestamp
            - (about.get('specifiedRetentionMillis') or about.get('defaultRetentionMillis') or 0) | int -%}
    {%- endif -%}
    {%- set total = namespace(bytes=0) -%}
    {%- for gone in state.gone if removed.until < gone.time < limit -%}
        {%- set total.bytes = total.bytes + gone.bytes -%}
    {%- endfor -%}
    {{- return(total.bytes) -}}
{%- endmacro %}

{#
    A step of a plan: {table, kind, sql, bytes, gain, worth, why, partitions}. `bytes` is the most that it writes.
    `gain` is in bytes that readers no longer read or that become free; a file counts as four megabytes, the cost of
    opening it in Spark. `worth` is the gain per byte that is written.
#}
{% macro _step(table, kind, sql, parts, bytes, gain, why) -%}
    {%- set some = ' in {:,} of {:,} partitions'.format(parts | length, table.state.parts | length)
        if table.state.partitions and kind != 'vacuum' else '' -%}
    {{- return({
        'table': table, 'kind': kind, 'sql': sql, 'bytes': bytes, 'gain': gain,
        'worth': gain / ([bytes, 1048576] | max), 'why': why ~ some,
        'partitions': parts | map(attribute='values') | list if table.state.partitions and kind != 'vacuum' else [],
    }) -}}
{%- endmacro %}

{# Partitions, the largest gain first, in lists that are short enough for a predicate. #}
{% macro _chunks(parts) -%}
    {%- set ordered = parts | sort(attribute='files', reverse=true) -%}
    {%- set chunks = [] -%}
    {%- for chunk in ordered | batch(100) -%}{%- do chunks.append(chunk) -%}{%- endfor -%}
    {{- return(chunks) -}}
{%- endmacro %}

{# A predicate for these partitions; an empty text for all. #}
{% macro _parts_sql(state, parts) -%}
    {%- if parts | length == state.parts | length -%}{{- return('') -}}{%- endif -%}
    {%- set texts = [] -%}
    {%- for part in parts -%}
        {%- set equal = [] -%}
        {%- for name, value in part['values'].items() -%}
            {%- do equal.append(
                dbt_delta._quoted(name) ~ (' is null' if value is none else ' = ' ~ dbt_delta._literal(value))
            ) -%}
        {%- endfor -%}
        {%- do texts.append('(' ~ equal | join(' and ') ~ ')') -%}
    {%- endfor -%}
    {{- return(texts | join(' or ')) -}}
{%- endmacro %}

{# All steps in order of their worth; the steps of one table stay in the order of its plan. #}
{% macro _ordered_steps(tables) -%}
    {%- set rewrites, vacuums = [], [] -%}
    {%- for table in tables if table.state is not none -%}
        {%- for step in table.steps -%}
            {%- do (vacuums if step.kind == 'vacuum' else rewrites).append(step) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(
        rewrites | sort(attribute='worth', reverse=true) | list + vacuums | sort(attribute='gain', reverse=true) | list
    ) -}}
{%- endmacro %}

{#
    A table of the plan as data: {table, node, problem, partitions, steps}; if its log can be read, also files, bytes
    and the other values that docs/maintenance.md names. `unordered_bytes` is none without an order.
#}
{% macro _plan_line(table) -%}
    {%- set name, id, state = dbt_delta._bare(table.relation), table.node.unique_id, table.state -%}
    {%- if state is none -%}
        {{- return({
            'table': name, 'node': id, 'problem': dbt_delta._log_problem(table), 'partitions': [], 'steps': [],
        }) -}}
    {%- endif -%}
    {%- set order = 'unclustered_bytes' if state.clustering else 'unsorted_bytes' if table.zorder else none -%}
    {%- set masked = dbt_delta._masked_columns(table.relation) if state.partitions else [] -%}
    {%- set partitions, steps, total = [], [], {} -%}
    {%- for key in ('files', 'bytes', 'small_files', 'rows', 'deleted_rows') -%}
        {%- do total.update({key: state.parts | sum(attribute=key)}) -%}
    {%- endfor -%}
    {%- for part in (state.parts if state.partitions else []) -%}
        {%- do partitions.append({
            'values': dbt_delta._starred(part['values'], masked), 'files': part.files, 'bytes': part.bytes, 'small_files': part.small_files,
            'rows': part.rows, 'deleted_rows': part.deleted_rows, 'unordered_bytes': part[order] if order else none,
        }) -%}
    {%- endfor -%}
    {%- for step in table.steps -%}
        {%- set parts = [] -%}
        {%- for values in step.partitions -%}{%- do parts.append(dbt_delta._starred(values, masked)) -%}{%- endfor -%}
        {%- do steps.append({
            'do': step.kind, 'why': step.why, 'bytes': step.bytes, 'gain': step.gain, 'partitions': parts,
        }) -%}
    {%- endfor -%}
    {{- return(dict({'table': name, 'node': id}, **dict(
        total,
        unordered_bytes=state.parts | sum(attribute=order) if order else none,
        reclaimable_bytes=table.reclaimable,
        version=state.version,
        last_optimize=dbt_delta._last(state, 'OPTIMIZE'),
        last_vacuum=dbt_delta._last(state, 'VACUUM END'),
        retention_hours=table.floor.hours,
        retention_why=table.floor.why,
        problem='no VACUUM: ' ~ table.floor.blocked if table.floor.blocked else none,
        partitions=partitions,
        steps=steps,
    ))) -}}
{%- endmacro %}

{# Seconds since the last commit of an operation; none if the log has none. #}
{% macro _last(state, operation) -%}
    {%- set found = state.operations.get(operation) -%}
    {{- return(none if found is none else ((state.now - found.timestamp) / 1000) | int) -}}
{%- endmacro %}
