{# What is worth doing for the project's tables, and why; changes nothing. #}
{% macro maintenance_plan(select=none, state=none, output='text') -%}
    {%- if output not in ('text', 'json', 'markdown') -%}
        {%- do dbt_delta._refuse("maintenance_plan has output '" ~ output ~ "'. It is one of text, json, markdown.") -%}
    {%- endif -%}
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

{# A table of the plan as data. #}
{% macro _plan_line(table) -%}
    {%- set line = {'table': dbt_delta._bare(table.relation), 'node': table.node.unique_id} -%}
    {%- if table.state is none -%}
        {%- do line.update({'problem': 'its log cannot be read', 'partitions': [], 'steps': []}) -%}
        {{- return(line) -}}
    {%- endif -%}
    {%- set state = table.state -%}
    {%- set order = 'unclustered_bytes' if state.clustering else 'unsorted_bytes' if table.zorder else none -%}
    {%- for name, key in {
        'files': 'files', 'bytes': 'bytes', 'small_files': 'small_files', 'rows': 'rows',
        'deleted_rows': 'deleted_rows', 'unordered_bytes': order,
    }.items() -%}
        {%- do line.update({name: state.parts | sum(attribute=key) if key else none}) -%}
    {%- endfor -%}
    {%- do line.update({
        'reclaimable_bytes': table.reclaimable,
        'version': state.version,
        'last_optimize': dbt_delta._last(state, 'OPTIMIZE'),
        'last_vacuum': dbt_delta._last(state, 'VACUUM END'),
        'retention_hours': table.floor.hours,
        'retention_why': table.floor.why,
        'problem': 'no VACUUM: ' ~ table.floor.blocked if table.floor.blocked else none,
        'partitions': [],
        'steps': [],
    }) -%}
    {%- set masked = dbt_delta._masked_columns(table.relation) if state.partitions else [] -%}
    {%- for part in (state.parts if state.partitions else []) -%}
        {%- do line.partitions.append({
            'values': dbt_delta._starred(part['values'], masked), 'files': part.files, 'bytes': part.bytes, 'small_files': part.small_files,
            'rows': part.rows, 'deleted_rows': part.deleted_rows, 'unordered_bytes': part[order] if order else none,
        }) -%}
    {%- endfor -%}
    {%- for step in table.steps -%}
        {%- set parts = [] -%}
        {%- for values in step.partitions -%}{%- do parts.append(dbt_delta._starred(values, masked)) -%}{%- endfor -%}
        {%- do line.steps.append({
            'do': step.kind, 'why': step.why, 'bytes': step.bytes, 'gain': step.gain, 'partitions': parts,
        }) -%}
    {%- endfor -%}
    {{- return(line) -}}
{%- endmacro %}

{# Seconds since the last commit of an operation; none without one in the log. #}
{% macro _last(state, operation) -%}
    {%- set found = state.operations.get(operation) -%}
    {{- return(none if found is none else ((state.now - found.timestamp) / 1000) | int) -}}
{%- endmacro %}

{# The lines that people read of it: one for each step, the first with what is known of the table. #}
{% macro _plan_texts(line) -%}
    {%- set about = {
        'table': line.table, 'files': line.files, 'size': none, 'small': line.small_files, 'deleted': none,
        'unordered': none, 'reclaimable': none, 'optimized': none, 'vacuumed': none, 'do': '', 'why': line.problem or '',
    } -%}
    {%- if 'bytes' in line -%}
        {%- do about.update({
            'size': dbt_delta._bytes(line.bytes),
            'deleted': dbt_delta._share(line.deleted_rows, line.rows),
            'unordered': none if line.unordered_bytes is none else dbt_delta._share(line.unordered_bytes, line.bytes),
            'reclaimable': dbt_delta._bytes(line.reclaimable_bytes) if line.reclaimable_bytes else none,
            'optimized': none if line.last_optimize is none else dbt_delta._duration(line.last_optimize),
            'vacuumed': none if line.last_vacuum is none else dbt_delta._duration(line.last_vacuum),
        }) -%}
    {%- endif -%}
    {%- set texts = [] -%}
    {%- for step in line.steps -%}
        {%- set text = {} -%}
        {%- for name, value in about.items() -%}{%- do text.update({name: none if texts else value}) -%}{%- endfor -%}
        {%- do text.update({'do': step.do, 'why': step.why}) -%}
        {%- do texts.append(text) -%}
    {%- endfor -%}
    {{- return(texts or [about]) -}}
{%- endmacro %}
