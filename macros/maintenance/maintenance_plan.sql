{# Lists the maintenance that is worth doing for the project's tables, and why; changes nothing. #}
{% macro maintenance_plan(select=none, state=none, output='text') -%}
    {%- do dbt_delta._in_format('check_operation')('maintenance_plan') -%}
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
