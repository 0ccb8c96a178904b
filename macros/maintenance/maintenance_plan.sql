{# Lists the maintenance that is worth doing for the project's tables, and why; changes nothing. #}
{% macro maintenance_plan(select=none, state=none, output='text') -%}
    {%- do dbt_delta._check_choice('maintenance_plan: output', output, ['text', 'json', 'markdown']) -%}
    {%- set lines = [] -%}
    {%- for table in dbt_delta._plan(select, state, 'maintenance_plan') -%}
        {%- do lines.append(dbt_delta._plan_line(table)) -%}
    {%- endfor -%}
    {%- set headings = [
        'table', 'files', 'size', 'small', 'deleted', 'unordered', 'reclaimable', 'optimized', 'vacuumed', 'do', 'why',
    ] -%}
    {%- if output == 'json' -%}
        {%- do print(tojson(lines)) -%}
    {%- else -%}
        {%- set shown = [] -%}
        {%- for line in lines -%}{%- do shown.extend(dbt_delta._plan_texts(line)) -%}{%- endfor -%}
        {%- if output == 'markdown' -%}
            {%- do print(dbt_delta._markdown_table(headings, shown)) -%}
        {%- else -%}
            {%- do dbt_delta._print_table(headings, shown) -%}
        {%- endif -%}
    {%- endif -%}
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

{# The lines of the plan as text: one per step; the first one describes the table. #}
{% macro _plan_texts(line) -%}
    {%- set known = {'table': line.table, 'files': line.files, 'small': line.small_files} -%}
    {%- if 'bytes' in line -%}
        {%- set known = dict(
            known,
            size=dbt_delta._bytes(line.bytes),
            deleted=dbt_delta._share(line.deleted_rows, line.rows),
            unordered=none if line.unordered_bytes is none else dbt_delta._share(line.unordered_bytes, line.bytes),
            reclaimable=dbt_delta._bytes(line.reclaimable_bytes) if line.reclaimable_bytes else none,
            optimized=none if line.last_optimize is none else dbt_delta._duration(line.last_optimize),
            vacuumed=none if line.last_vacuum is none else dbt_delta._duration(line.last_vacuum),
        ) -%}
    {%- endif -%}
    {%- set none_of_it, texts = {}, [] -%}
    {%- for name in (
        'table', 'files', 'size', 'small', 'deleted', 'unordered', 'reclaimable', 'optimized', 'vacuumed',
    ) -%}
        {%- do none_of_it.update({name: none}) -%}
    {%- endfor -%}
    {%- for step in line.steps or [{'do': '', 'why': line.problem or ''}] -%}
        {%- do texts.append(dict(none_of_it, **dict({} if texts else known, do=step.do, why=step.why))) -%}
    {%- endfor -%}
    {{- return(texts) -}}
{%- endmacro %}
