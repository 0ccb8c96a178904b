{#
    What an erasure is about: {kind, action, requests, keys, from, tables, salt}; all that speaks
    against it is refused at once. `requests` is their name for people, `keys` are their columns, `from` is for SQL what
    they are now: a request that comes while an erasure runs waits for the next one.
    Tables as of _subject_tables, and with `action`, `state`, `floor` and what _with_existing adds; the last is that of the
    requests, unless these are a file.
#}
{% macro _erasure_scope(macro, kind, requests, action) -%}
    {%- if adapter.dbt_delta_erasure is not defined or adapter.dbt_delta_erasure() is none -%}
        {%- do dbt_delta._refuse(
            macro ~ ' decodes files, which needs the plugin of the Python package dbt_delta and an embedded session '
            ~ '(method: session). Nothing was changed.'
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._check_choice(macro ~ ': action', action, ['delete', 'redact']) -%}
    {%- set found = dbt_delta._subject_tables(macro, kind) -%}
    {%- set is_file = (requests | string).endswith('.csv') -%}
    {%- set own = none if is_file else dbt_delta._relation_named(requests, macro) -%}
    {%- set name = requests | string if is_file else dbt_delta._bare(own) -%}
    {%- set keys, tables, problems = {}, [], [] -%}
    {%- set schemas = dbt_delta._schemas() -%}
    {%- for table in found.values() -%}
        {%- for column in table.columns if column.link is none -%}
            {%- do keys.update({column.key: true}) -%}
        {%- endfor -%}
        {%- set quarantine = dbt_delta._quarantine_of(table.relation) -%}
        {%- for relation in (table.relation, quarantine) if dbt_delta._is_there(relation, schemas) -%}
            {%- if dbt_delta._bare(relation) | lower == name | lower -%}
                {%- do problems.append(name ~ ' holds subjects: requests need a table of their own') -%}
            {%- endif -%}
            {%- do tables.append(dict(
                table, relation=relation, action=action, is_beside=relation.identifier != table.relation.identifier
            )) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set columns = [] -%}
    {%- for key in keys -%}
        {%- do columns.append({'name': key, 'group': key, 'key': key, 'link': none}) -%}
    {%- endfor -%}
    {%- do tables.append({
        'relation': own, 'name': none, 'columns': columns, 'personal': [], 'action': 'delete', 'is_requests': true,
    }) if not is_file -%}
    {%- set checked = [] -%}
    {%- for table in tables -%}
        {%- do checked.append(dbt_delta._with_existing(table, dbt_delta._delta_table(table.relation, macro))) -%}
    {%- endfor -%}
    {%- set given = dbt_delta._requests_file(macro, name, columns, checked) if is_file
        else {'columns': checked[-1].existing.columns} -%}
    {%- for table in checked -%}
        {%- do problems.extend(dbt_delta._erasure_problems(table, dict(given, name=name), checked)) -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_erasure(macro, problems) -%}
    {%- set done, locations = dbt_delta._with_floors(macro, checked), {} -%}
    {%- for table in done -%}
        {%- do locations.update({dbt_delta._bare(table.relation): table.location}) -%}
    {%- endfor -%}
    {%- for table in adapter.dbt_delta_erasure().unwritable(locations) -%}
        {%- do problems.append(table ~ ': its folder cannot be written by this user') -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_erasure(macro, problems) -%}
    {%- set from = given.from if is_file else dbt_delta._as_of(own, done[-1].state.version) -%}
    {{- return({
        'kind': kind, 'action': action, 'requests': name, 'keys': columns, 'from': from, 'tables': done,
        'salt': adapter.dbt_delta_erasure().random(),
    }) -}}
{%- endmacro %}

{#
    A table with what it is: `has_files` where rows say which file they are from, `keeps_files` where they are the record of
    the files that landed, `has_rejects` where it has rejected lines, whose words are `words_of_rejected` in SQL.
#}
{% macro _with_existing(table, existing) -%}
    {%- set has_files, node = dbt_delta._is_ledger(existing.columns), table.get('node') -%}
    {{- return(dict(
        table, existing=existing, has_files=has_files, has_rejects=dbt_delta._has_rejects(existing.columns),
        keeps_files=has_files and node is not none and not table.is_beside and dbt_delta._may_keep_files(node),
        words_of_rejected=adapter.dbt_delta_erasure().words_sql(
            dbt_delta._rejected_text(), table.get('separators', [])
        ),
    )) -}}
{%- endmacro %}

{#
    The requests of a file, {columns, from}: a temporary view, so that no table has the keys. A column has the kind of
    the first column of a table that is compared with it.
#}
{% macro _requests_file(macro, file, keys, tables) -%}
    {%- set kinds, view, columns = {}, 'dbt_delta_requests', [] -%}
    {%- for table in tables -%}
        {%- for column in table.columns if column.link is none and column.key not in kinds -%}
            {%- set there = dbt_delta._column(table.existing.columns, column.name) -%}
            {%- do kinds.update({column.key: dbt_delta._key_kind(there.type)}) if there is not none -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set found = adapter.dbt_delta_erasure().requests(file, kinds, view) -%}
    {%- do dbt_delta._refuse_erasure(macro, found.problems) -%}
    {%- for name, type in found.types.items() -%}{%- do columns.append({'name': name, 'type': type}) -%}{%- endfor -%}
    {{- return({'columns': columns, 'from': dbt_delta._quoted(view)}) -}}
{%- endmacro %}

{% macro _refuse_erasure(macro, problems) -%}
    {%- if problems -%}
        {%- do dbt_delta._refuse(macro ~ ': nothing was changed.\n  ' ~ problems | unique | join('\n  ')) -%}
    {%- endif -%}
{%- endmacro %}

{# Why a table cannot be erased from; `requests` are {name, columns}. #}
{% macro _erasure_problems(table, requests, tables) -%}
    {%- set name, existing, problems = dbt_delta._bare(table.relation), table.existing, [] -%}
    {%- if dbt_delta._has_feature(existing.properties, 'append_only') -%}
        {%- do problems.append(
            name ~ ' is append-only (' ~ dbt_delta._feature_property('append_only').key
            ~ ' = true): set the property to false first'
        ) -%}
    {%- endif -%}
    {%- for text in (table.get('unclear', []) if table.has_rejects else []) -%}
        {%- do problems.append(name ~ ' has rejected lines, and ' ~ text) -%}
    {%- endfor -%}
    {%- for column in table.columns -%}
        {%- set there = dbt_delta._column(existing.columns, column.name) -%}
        {%- set keys = [requests] if column.link is none else [] -%}
        {%- for lead in tables if column.link is not none and lead.name == column.link -%}
            {%- do keys.append({'name': dbt_delta._bare(lead.relation), 'columns': lead.existing.columns}) -%}
        {%- endfor -%}
        {%- if there is none -%}
            {%- do problems.append(name ~ ' has no column ' ~ column.name ~ ': correct the YAML, or build it') -%}
        {%- elif column.name | lower in existing.partitions | map('lower') -%}
            {%- do problems.append(
                name ~ ' is partitioned by ' ~ column.name ~ ', whose values are names of folders: build it without'
            ) -%}
        {%- endif -%}
        {%- for other in (keys if there is not none else []) -%}
            {%- set key = dbt_delta._column(other.columns, column.key) -%}
            {%- if key is none -%}
                {%- do problems.append(other.name ~ ' has no column ' ~ column.key) -%}
            {%- elif dbt_delta._key_kind(key.type) is none
                or dbt_delta._key_kind(key.type) != dbt_delta._key_kind(there.type) -%}
                {%- do problems.append(
                    name ~ '.' ~ column.name ~ ' is ' ~ there.type ~ ', and ' ~ other.name ~ '.' ~ column.key ~ ' is '
                    ~ key.type ~ ': both must be integers, or both texts'
                ) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for emptied in (dbt_delta._emptied(table) if table.action == 'redact' else []) -%}
        {%- set there = dbt_delta._column(existing.columns, emptied) -%}
        {%- if there is not none and (there.get('nullable') is false or there.get('is_generated')) -%}
            {%- do problems.append(
                name ~ '.' ~ emptied ~ ' is NOT NULL or generated, so redact cannot empty it: use action delete'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(problems) -}}
{%- endmacro %}

{% macro _key_kind(type) -%}
    {{- return(
        'integer' if type in ('tinyint', 'smallint', 'int', 'bigint')
        else 'text' if type == 'string' or type.startswith('varchar') else none
    ) -}}
{%- endmacro %}

{# Tables with their states, ready for VACUUM; refuses those whose log cannot be read. #}
{% macro _with_floors(macro, tables) -%}
    {%- set states, done = {}, [] -%}
    {%- set relations, names = tables | map(attribute='relation') | list, [] -%}
    {%- for relation in relations -%}{%- do names.append(dbt_delta._bare(relation) | lower) -%}{%- endfor -%}
    {%- set read = [] -%}
    {%- for found in dbt_delta._read_states(dbt_delta._catalog_tables([], relations))
        if dbt_delta._bare(found.relation) | lower in names -%}
        {%- do read.append(found) -%}
    {%- endfor -%}
    {%- for found in dbt_delta._with_times(read) -%}
        {%- do states.update({dbt_delta._bare(found.relation) | lower: found}) -%}
    {%- endfor -%}
    {%- for table in tables -%}
        {%- set name = dbt_delta._bare(table.relation) -%}
        {%- set found = states.get(name | lower) -%}
        {%- if found is undefined or found is none or found.state is none -%}
            {%- do dbt_delta._refuse_erasure(
                macro, [name ~ ': ' ~ (dbt_delta._log_problem(found) if found else 'the catalog has no location of it')]
            ) -%}
        {%- endif -%}
        {%- do done.append(dict(table, **dict(found, floor=dbt_delta._floor(found), node=table.get('node')))) -%}
    {%- endfor -%}
    {{- return(done) -}}
{%- endmacro %}

{#
    What a scan is told of tables, {name: {location, columns, log_hours, file_hours}}. Of a column with `emptied` only a
    row counts that still has a value in one of these.
#}
{% macro _scanned(tables) -%}
    {%- set given = {} -%}
    {%- for table in tables -%}
        {%- set columns, physical = [], dbt_delta._physical_names(table.state.columns) -%}
        {%- set emptied = [] -%}
        {%- for name in (dbt_delta._emptied(table) if table.action == 'redact' else []) -%}
            {%- do emptied.append(physical[name | lower]) if name | lower in physical -%}
        {%- endfor -%}
        {%- for column in table.columns -%}
            {#- Redacted rows keep the keys that lead to other tables. -#}
            {%- set more = {'emptied': emptied} if table.action == 'redact' and column.link is not none else {} -%}
            {%- do columns.append(dict(
                more, name=column.name, physical=physical[column.name | lower], group=column.group,
            )) -%}
        {%- endfor -%}
        {%- for column in (columns | list if dbt_delta._has_rejects(table.state.columns) else []) -%}
            {%- for name, start in {'_rejected_line': '', '_rejected_reason': dbt_delta._header_reason()}.items() -%}
                {%- do columns.append({
                    'name': name, 'physical': physical[name], 'group': column.group, 'has_words': true, 'start': start,
                    'separators': table.get('separators', []),
                }) -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- set key = dbt_delta._retention_property('log') -%}
        {%- set log = dbt_delta._own_retention(table.state.configuration)[key] -%}
        {%- do given.update({dbt_delta._bare(table.relation): {
            'location': table.location, 'columns': columns, 'file_hours': table.floor.hours,
            'log_hours': dbt_delta._hours(log or dbt_delta._retention_properties()[key]),
        }}) -%}
    {%- endfor -%}
    {{- return(given) -}}
{%- endmacro %}
