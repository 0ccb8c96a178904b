{#
    A run operation that removes subjects from all tables of the project, or empties what is personal, and then from
    their old files: one MERGE for each table that has rows of them, purge, VACUUM, certificate. A call after a killed
    one goes on where that stopped.
#}
{% macro erase(kind, requests, action='delete', retention_hours=none, dry_run=false, landing=none) -%}
    {%- do dbt_delta._in_format('check_operation')('erase') -%}
    {%- if retention_hours is not none and (retention_hours is not number or retention_hours < 0) -%}
        {%- do dbt_delta._refuse("erase has retention_hours '" ~ retention_hours ~ "'. Use a number of hours.") -%}
    {%- endif -%}
    {%- set plan = dbt_delta._erasure_plan('erase', kind, requests, action, landing) -%}
    {%- do dbt_delta._check_retention(plan, retention_hours) -%}
    {%- do dbt_delta._print_erasure(plan) -%}
    {%- if dry_run -%}
        {%- do print('Dry run: nothing was changed.') -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set erasure, scope, folder = adapter.dbt_delta_erasure(), plan.scope, dbt_delta._erasure_folder() -%}
    {%- set record = dict(
        plan.record, tables=dbt_delta._erasure_record(plan), landing=dbt_delta._landing_record(plan),
        streams=erasure.states(dbt_delta._streams_of(scope.tables))
    ) -%}
    {%- do erasure.write(folder, record) -%}
    {%- set record = dbt_delta._erase_landing(plan, record) -%}
    {%- set others = scope.tables | rejectattr('is_requests', 'defined') | list -%}
    {%- for table in others -%}{%- do dbt_delta._erase_rows(table, plan, record) -%}{%- endfor -%}
    {%- do dbt_delta._clean_files(others, plan.record, retention_hours) -%}
    {%- set left = erasure.scan(dbt_delta._scanned(others), record) -%}
    {%- if not dbt_delta._holding(left) -%}
        {#- As long as files have the subjects, a later call needs the requests. -#}
        {%- for own in scope.tables if own.is_requests is defined -%}
            {%- do dbt_delta._erase_rows(own, plan, record) -%}
            {%- do dbt_delta._clean_files([own], plan.record, retention_hours) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- do dbt_delta._refuse_found([dbt_delta._certify(record, none)]) -%}
{%- endmacro %}

{# Refuses, before the first write, hours that VACUUM would refuse, and readers of what is to be removed. #}
{% macro _check_retention(plan, retention_hours) -%}
    {%- set problems = [] -%}
    {%- for table in (plan.scope.tables if retention_hours is not none else []) -%}
        {%- set name = dbt_delta._bare(table.relation) -%}
        {%- for reader in dbt_delta._erasure_readers(table, plan.rows[name]) -%}
            {%- do problems.append(
                name ~ ': ' ~ reader ~ '. Let it go or move it first, or leave out retention_hours: then files stay '
                ~ 'until a later call'
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_erasure('erase', problems) -%}
    {%- for table in (plan.scope.tables if retention_hours is not none else []) -%}
        {%- do dbt_delta._vacuum_hours(table, retention_hours) -%}
    {%- endfor -%}
{%- endmacro %}

{# What the certificate says of tables before anything is written; of an earlier call of it, what that found. #}
{% macro _erasure_record(plan) -%}
    {%- set tables = {} -%}
    {%- for table in plan.scope.tables -%}
        {%- set name = dbt_delta._bare(table.relation) -%}
        {%- set earlier = plan.record.tables.get(name, {}) -%}
        {%- do tables.update({name: dict({
            'schema': table.relation.schema, 'identifier': table.relation.identifier, 'action': table.action,
            'is_requests': table.is_requests is defined,
            'before': earlier.get('before', table.state.version),
            'rows': plan.rows[name] or earlier.get('rows', 0),
            'held': [earlier.get('held', 0), dbt_delta._holders(plan.scans[name])] | max,
        }, **plan.scans[name].known)}) -%}
    {%- endfor -%}
    {{- return(tables) -}}
{%- endmacro %}

{#
    The same of landing folders, {mode, folders, rewritten}; `held` is how many files had subjects, `rewritten` what was
    written anew, {tables, files}.
#}
{% macro _landing_record(plan) -%}
    {%- set folders = {} -%}
    {%- for name, folder in plan.folders.items() -%}
        {%- set earlier = plan.record.get('landing', {}).get('folders', {}).get(name, {}) -%}
        {%- do folders.update({name: {
            'format': folder.format, 'separator': folder.separator, 'null_value': folder.null_value,
            'columns': folder.columns, 'tables': folder.tables,
            'held': [earlier.get('held', 0), folder.files | length] | max,
        }}) -%}
    {%- endfor -%}
    {%- set rewritten = plan.record.get('landing', {}).get('rewritten', []) -%}
    {{- return({'mode': plan.landing, 'folders': folders, 'rewritten': rewritten}) -}}
{%- endmacro %}

{# The streams that read tables of an erasure, also through other nodes, {name: [schema, identifier]}. #}
{% macro _streams_of(tables) -%}
    {%- set edges, ids, found = dbt_delta._edges(graph.nodes), [], {} -%}
    {%- for table in tables if table.get('node') -%}{%- do ids.append(table.node.unique_id) -%}{%- endfor -%}
    {%- for id in dbt_delta._reached(ids, edges.down) if id in graph.nodes -%}
        {%- set node = graph.nodes[id] -%}
        {%- do found.update({node.schema ~ '.' ~ node.alias: [node.schema, node.alias]})
            if node.config.get('materialized') == 'stream' -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# How many data and change files have a subject. #}
{% macro _holders(scan) -%}
    {{- return(scan.findings | selectattr('place', 'in', ['data file', 'change file']) | list | length) -}}
{%- endmacro %}

{# Whether files other than those of logs still have the subjects. #}
{% macro _holding(scans) -%}
    {%- for scan in scans.values() -%}
        {%- if dbt_delta._holders(scan) or scan.unread -%}{{- return(true) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{#
    One commit that erases the rows of a table. A table that has them only in old versions is marked, so that no
    restore goes back to these.
#}
{% macro _erase_rows(table, plan, record) -%}
    {%- set name = dbt_delta._bare(table.relation) -%}
    {%- if plan.rows[name] -%}
        {%- call dbt_delta._tagging({'dbt_erased': record.request}) -%}
            {%- do dbt_delta._execute(dbt_delta.get_erase_sql(table, plan.scope)) -%}
        {%- endcall -%}
        {%- do print('erase ' ~ name ~ ': ' ~ '{:,}'.format(plan.rows[name]) ~ ' rows') -%}
    {%- elif dbt_delta._holding({name: plan.scans[name]})
        and not dbt_delta._is_marked(dbt_delta._commits(table.relation), plan.scans[name], record.request) -%}
        {%- call dbt_delta._tagging({'dbt_erased': record.request}) -%}
            {%- do dbt_delta._execute(
                dbt_delta.get_set_properties_sql(table.relation, {'dbt_delta.erased': record.request})
            ) -%}
        {%- endcall -%}
    {%- endif -%}
{%- endmacro %}

{#
    Whether an erasure is newer than each version that has a file with a subject; commits newest first. In its own
    commit the rows of this erasure are gone, in that of another one only the rows of others.
#}
{% macro _is_marked(commits, scan, request) -%}
    {%- set held = dbt_delta._last_held(scan, commits[0].version) -%}
    {%- for commit in commits if commit.version == held and commit.erased == request -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(dbt_delta._erased_since(commits, held) is not none) -}}
{%- endmacro %}

{# The newest version that has a file with a subject, `newest` if that is live; none if the log does not say. #}
{% macro _last_held(scan, newest) -%}
    {%- set versions = [] -%}
    {%- for finding in scan.findings if finding.versions or finding.is_live -%}
        {%- do versions.append(
            newest if finding.is_live else modules.re.findall('[0-9]+', finding.versions)[-1] | int
        ) -%}
    {%- endfor -%}
    {{- return(versions | max if versions else none) -}}
{%- endmacro %}
