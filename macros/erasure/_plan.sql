{#
    What an erasure finds: {scope, record, rows, scans, landing, folders}. Nothing is written. Without requests an
    unfinished erasure goes on: its certificate has the subjects. `folders` are the landing folders that it changes.
#}
{% macro _erasure_plan(macro, kind, requests, action, landing) -%}
    {%- do dbt_delta._check_choice(macro ~ ': landing', landing, ['out_of_scope', 'delete', 'rewrite'])
        if landing is not none -%}
    {%- set scope = dbt_delta._erasure_scope(macro, kind, requests, action) -%}
    {%- set erasure, texts = adapter.dbt_delta_erasure(), [] -%}
    {%- set about = {'kind': kind, 'action': action, 'requests': scope.requests} -%}
    {%- for column in scope['keys'] -%}
        {#- A blank text would be the key of everybody who has none. -#}
        {%- do texts.append('trim(cast(' ~ dbt_delta._quoted(column.name) ~ ' as string))') -%}
    {%- endfor -%}
    {%- set found = dbt_delta._ask(
        'select count(*) as row_count, count_if(coalesce(' ~ texts | join(', ') ~ ", '') = '' or '' in ("
        ~ texts | join(', ') ~ ')) as empty from ' ~ scope.from
    ).rows[0] -%}
    {%- set unfinished = none -%}
    {%- if found['empty'] | int -%}
        {%- do dbt_delta._refuse_erasure(macro, [about.requests ~ ' has ' ~ found['empty'] ~ ' rows without a key, or with a blank one']) -%}
    {%- elif not found['row_count'] | int -%}
        {%- set unfinished = erasure.unfinished(dbt_delta._erasure_folder(), about) -%}
        {%- if unfinished is none -%}
            {%- do dbt_delta._refuse_erasure(
                macro, [
                    about.requests ~ (' is not there or' if about.requests.endswith('.csv') else '')
                    ~ ' has no rows, and no erasure of it is unfinished'
                ]
            ) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set queries = {} -%}
    {%- for column in scope.tables | map(attribute='columns') | sum(start=[]) -%}
        {%- do queries.update({
            column.group: 'select distinct k from (' ~ dbt_delta._group_sql(column, scope) ~ ')',
        }) -%}
    {%- endfor -%}
    {%- set groups = erasure.groups(queries) if unfinished is none else unfinished.subjects -%}
    {%- set record = unfinished or erasure.begin(
        dbt_delta._erasure_folder(), about, scope['keys'] | map(attribute='group') | list, groups
    ) -%}
    {%- set rows, problems = {}, [] -%}
    {%- for table in scope.tables -%}
        {%- do problems.extend(dbt_delta._redaction_problems(table, scope)) if action == 'redact' -%}
        {%- do problems.extend(dbt_delta._record_problems(table, scope)) if table.keeps_files -%}
        {%- do rows.update({dbt_delta._bare(table.relation): dbt_delta._ask(
            'select count(*) as row_count from ' ~ dbt_delta._named(table.relation) ~ ' where '
            ~ dbt_delta._to_erase_sql(table, scope)
        ).rows[0]['row_count'] | int}) -%}
    {%- endfor -%}
    {%- set scans = erasure.scan(dbt_delta._with_leads(dbt_delta._scanned(scope.tables), scope), record) -%}
    {%- set record = erasure.linked(record, scans) -%}
    {%- set landing = landing or record.get('landing', {}).get('mode', 'out_of_scope') -%}
    {%- set folders = dbt_delta._searched_folders(
        macro, dbt_delta._erased_folders(macro, scope.tables), record.subjects
    ) if landing != 'out_of_scope' else {} -%}
    {%- do problems.extend(dbt_delta._landing_problems(folders, landing)) -%}
    {%- do dbt_delta._refuse_erasure(macro, problems) -%}
    {{- return({
        'scope': scope, 'record': record, 'rows': rows, 'landing': landing, 'folders': folders, 'scans': scans,
    }) -}}
{%- endmacro %}

{#
    What a scan is told of tables, with `leads`, {name: {column, others}}: the columns through which rows of other tables
    belong to the subjects, and the SELECT `k` of the values that somebody else has in the newest version. A row that
    is only in an old file leads to rows, too.
#}
{% macro _with_leads(given, scope) -%}
    {%- set found = {} -%}
    {%- for table in scope.tables -%}
        {%- set leads, physical = {}, dbt_delta._physical_names(table.state.columns) -%}
        {%- for column in scope.tables | map(attribute='columns') | sum(start=[])
            if column.link is not none and column.link == table.name -%}
            {%- set key, others = dbt_delta._quoted(column.key), [] -%}
            {%- for one in scope.tables if one.name == column.link -%}
                {%- do others.append(
                    'select cast(' ~ key ~ ' as string) as k from ' ~ dbt_delta._named(one.relation) ~ ' where not coalesce('
                    ~ dbt_delta._concerns_sql(one, scope) ~ ', false)'
                ) -%}
            {%- endfor -%}
            {%- do leads.update({column.group: {
                'column': {'name': column.key, 'physical': physical[column.key | lower], 'group': column.group},
                'others': others | join(' union all '),
            }}) -%}
        {%- endfor -%}
        {%- set name = dbt_delta._bare(table.relation) -%}
        {%- do found.update({name: dict(given[name], leads=leads)}) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{% macro _erasure_folder() -%}{{- return(var('dbt_delta_erasure_folder', 'erasure')) -}}{%- endmacro %}

{# What reads versions of a table that have the subjects, as texts; only rows that are still there make new ones. #}
{% macro _erasure_readers(table, rows) -%}
    {%- set readers = [] -%}
    {%- if rows -%}
        {%- for pin in dbt_delta._pins(table) -%}
            {%- do readers.append(
                pin.who ~ ' ' ~ (pin.unknown if pin.get('unknown') else 'reads ' ~ dbt_delta._pin_text(pin))
            ) -%}
        {%- endfor -%}
        {%- for claim in table.state.claims if dbt_delta._is_needed(claim, table.state) -%}
            {%- do readers.append('its shallow clone ' ~ dbt_delta._bare(claim.table.relation) ~ ' reads its files') -%}
        {%- endfor -%}
    {%- elif table.floor.hard_why -%}
        {%- do readers.append(table.floor.hard_why) -%}
    {%- endif -%}
    {%- do readers.append(table.floor.blocked) if table.floor.blocked is not none and not readers -%}
    {{- return(readers | unique | list) -}}
{%- endmacro %}

{# The lines of a plan. #}
{% macro _erasure_lines(plan) -%}
    {%- set lines = [] -%}
    {%- for table in plan.scope.tables -%}
        {%- set name = dbt_delta._bare(table.relation) -%}
        {%- set places, versions = {}, [] -%}
        {%- for finding in plan.scans[name].findings -%}
            {%- do places.update({finding.place: places.get(finding.place, 0) + 1}) -%}
            {%- do versions.append(finding.versions) if finding.versions -%}
        {%- endfor -%}
        {%- set way = dbt_delta._erasure_readers(table, plan.rows[name]) -%}
        {%- do way.append(
            'old files are kept for ' ~ dbt_delta._hours_text(table.floor.hours) ~ ' (' ~ table.floor.why ~ ')'
        ) if places -%}
        {%- do lines.append({
            'table': name, 'rows': plan.rows[name],
            'data files': places.get('data file', 0), 'change files': places.get('change file', 0),
            'log files': places.get('log', 0) + places.get('checkpoint', 0) + places.get('checksum', 0),
            'versions': versions | unique | sort | join(', '), 'in the way': way | join('; '),
        }) -%}
    {%- endfor -%}
    {%- for name, folder in plan.folders.items() -%}
        {%- set rows = [] -%}
        {%- for file in folder.files.values() -%}{%- do rows.extend(file.lines) -%}{%- endfor -%}
        {%- do lines.append({
            'table': 'landing folder ' ~ name, 'rows': rows | length, 'data files': folder.files | length,
            'change files': 0, 'log files': 0, 'versions': '', 'in the way': '',
        }) -%}
    {%- endfor -%}
    {{- return(lines) -}}
{%- endmacro %}

{% macro _print_erasure(plan, output='text') -%}
    {%- set lines = dbt_delta._erasure_lines(plan) -%}
    {%- if output == 'json' -%}
        {%- do print(tojson(lines)) -%}
    {%- else -%}
        {%- do dbt_delta._print_table(
            ['table', 'rows', 'data files', 'change files', 'log files', 'versions', 'in the way'], lines
        ) -%}
    {%- endif -%}
{%- endmacro %}
