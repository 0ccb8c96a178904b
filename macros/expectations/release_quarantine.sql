{#
    Writes the rows of a quarantine that break no expectation any more into their table, and deletes them from the
    quarantine. The table's commit names the version of the quarantine: a call after a killed one finishes that first.
#}
{% macro release_quarantine(model, where='true', dry_run=false) -%}
    {%- set node = dbt_delta._releasable(model) -%}
    {%- set relation = api.Relation.create(schema=node.schema, identifier=node.alias) -%}
    {%- set what = 'release_quarantine of ' ~ dbt_delta._named(relation) -%}
    {%- set target = dbt_delta._delta_table(relation, 'release_quarantine') -%}
    {%- set quarantine = dbt_delta._quarantine_of(relation) -%}
    {%- do dbt_delta._delta_table(quarantine, 'release_quarantine') -%}
    {%- set name, expectations = dbt_delta._named(quarantine), dbt_delta._expectations(node) -%}
    {%- set columns = dbt_delta._columns_of('select * from ' ~ name) -%}
    {%- do dbt_delta._check_expectations(
        expectations, columns | rejectattr('name', 'in', dbt_delta._quarantine_names()) | list, node.name
    ) -%}
    {%- set where = dbt_delta._inner_sql(where | string).strip() -%}
    {%- if dbt_delta._has_subquery(where) -%}
        {%- do dbt_delta._refuse(what ~ ' has where ' ~ where ~ ', a subquery. Use values, as in id in (1, 2).') -%}
    {%- endif -%}
    {%- do dbt_delta._check_expression(name, where, where, what ~ ' has where') -%}
    {%- do dbt_delta._finish_release(relation, quarantine, what) if not dry_run -%}
    {%- set now = dbt_delta._release_state(quarantine, name) -%}
    {%- set passes = dbt_delta._passes(expectations, where, now, columns) -%}
    {#- DELETE refuses chance, after the rows have been written. -#}
    {%- do dbt_delta._check_expression(name, passes, passes, what ~ ' has the condition') -%}
    {%- set found = dbt_delta._ask(
        'select count(*) as row_count, count_if(' ~ passes ~ ') as passing from ' ~ name
    ).rows[0] -%}
    {%- set rows, stay = found['passing'] | int, found['row_count'] | int - found['passing'] | int -%}
    {%- if not rows or dry_run -%}
        {%- do print(
            what ~ ': ' ~ rows ~ (' rows pass' if not dry_run else ' rows would pass') ~ ', ' ~ stay ~ ' stay.'
        ) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set written = [] -%}
    {%- for column in dbt_delta._columns_of('select * from ' ~ dbt_delta._named(relation))
        if dbt_delta._column(columns, column.name) is not none -%}
        {%- do written.append(column) -%}
    {%- endfor -%}
    {%- do dbt_delta._check_outdated(node, relation, quarantine, passes, what) -%}
    {%- set keys = dbt_delta._released_keys(node) -%}
    {%- do dbt_delta._check_released_keys(node, keys, name, passes, relation, written, what) -%}
    {%- set released = {'id': now.id, 'version': now.version, 'where': passes} -%}
    {%- call dbt_delta._tagging({'dbt_released': released}) -%}
        {%- do dbt_delta._execute(dbt_delta.get_release_sql(
            relation, name, passes, written, keys, dbt_delta._release_once(relation, released)
        )) -%}
    {%- endcall -%}
    {%- do dbt_delta._delete_released(name, released) -%}
    {%- do print(what ~ ': ' ~ rows ~ ' rows were written, ' ~ stay ~ ' stay.') -%}
{%- endmacro %}

{# The node, if its rows can be released. #}
{% macro _releasable(name) -%}
    {%- set found = [] -%}
    {%- for node in dbt_delta._table_nodes(views=true) if node.name == name | string -%}
        {%- do found.append(node) -%}
    {%- endfor -%}
    {%- if not found -%}{%- do dbt_delta._relation_named(name, 'release_quarantine') -%}{%- endif -%}
    {%- set way_out = none -%}
    {%- if not found -%}
        {%- set way_out = 'it needs a model by its name as in ref()' -%}
    {%- elif not dbt_delta._expectations(found[0]) -%}
        {%- set way_out = 'it has no expectations' -%}
    {%- elif found[0].config.materialized == 'view' -%}
        {%- set way_out = 'it is a view, which shows a row as soon as it is good' -%}
    {%- elif found[0].resource_type == 'snapshot' -%}
        {%- set way_out = 'a snapshot takes a row when its source is good: run it again' -%}
    {%- else -%}
        {%- for config in (
            'merge_update_columns', 'merge_exclude_columns', 'matched_condition', 'not_matched_condition',
            'matched_delete_condition', 'merge_control_columns',
        ) if found[0].config.get(config) -%}
            {%- set way_out = 'it has ' ~ config ~ ': run the model again with the corrected rows' -%}
            {%- do dbt_delta._refuse('release_quarantine of ' ~ name ~ ': ' ~ way_out ~ '. Nothing was changed.') -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if way_out -%}
        {%- do dbt_delta._refuse('release_quarantine of ' ~ name ~ ': ' ~ way_out ~ '. Nothing was changed.') -%}
    {%- endif -%}
    {{- return(found[0]) -}}
{%- endmacro %}

{#
    What only one INSERT from this version of the quarantine has: Delta lets no second one write. A table that was
    restored or built anew meanwhile gets the rows again.
#}
{% macro _release_once(relation, released) -%}
    {%- set at = namespace(since=-1) -%}
    {%- for commit in dbt_delta._commits(relation) | reverse
        if commit.operation == 'RESTORE' or 'REPLACE' in commit.operation -%}
        {%- set at.since = commit.version -%}
    {%- endfor -%}
    {{- return('dbt_delta.release.' ~ released.id ~ '.' ~ released.version ~ '.' ~ at.since) -}}
{%- endmacro %}

{# The table's id and version, the time of its newest row (rows that come meanwhile are not released), and the time. #}
{% macro _release_state(relation, name) -%}
    {%- set times = dbt_delta._ask(
        'select unix_micros(max(_quarantined_at)) as newest, unix_micros(current_timestamp()) as time from ' ~ name
    ).rows[0] -%}
    {{- return({
        'id': dbt_delta._table_id(relation),
        'version': dbt_delta._commits(relation, 1)[0].version,
        'newest': times['newest'], 'time': times['time'],
    }) -}}
{%- endmacro %}

{# Whether a row breaks no expectation but those that only warn: the same answer in each statement of a release. #}
{% macro _passes(expectations, where, now, columns) -%}
    {%- set conditions = ['(' ~ where ~ ')', '_quarantined_at <= timestamp_micros(' ~ (now.newest or 0) ~ ')'] -%}
    {%- for one in expectations if one.action != 'warn' -%}
        {%- do conditions.append(dbt_delta._holds(one)) -%}
    {%- endfor -%}
    {{- return(dbt_delta._at_time('(' ~ conditions | join(' and ') ~ ') is true', now.time, columns)) -}}
{%- endmacro %}

{# SQL in which the clock stands still: functions of the time of a statement become values. #}
{% macro _at_time(sql, micros, columns) -%}
    {%- set time = 'timestamp_micros(' ~ micros ~ ')' -%}
    {%- set values = {
        'current_timestamp': time, 'now': time, 'current_date': 'date(' ~ time ~ ')', 'curdate': 'date(' ~ time ~ ')',
        'localtimestamp': 'cast(' ~ time ~ ' as timestamp_ntz)', 'current_time': 'cast(' ~ time ~ ' as time)',
        'unix_timestamp': 'unix_timestamp(' ~ time ~ ')',
    } -%}
    {%- set texts, at, tokens = [], namespace(end=0), dbt_delta._lexed(sql) -%}
    {%- for token in tokens if token.text in values -%}
        {%- set n = tokens.index(token) -%}
        {%- set next = tokens[n + 1:n + 3] | map(attribute='text') | list -%}
        {%- set is_called = next == ['(', ')'] -%}
        {#- Without brackets it may be a column or a field. -#}
        {%- if is_called or (
            next[:1] != ['('] and tokens[n - 1].text != '.' and dbt_delta._column(columns, token.text) is none
            and token.text not in ('now', 'curdate', 'unix_timestamp')
        ) -%}
            {%- do texts.append(sql[at.end:token.at] ~ values[token.text]) -%}
            {%- set at.end = tokens[n + 2].end if is_called else token.end -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(texts | join ~ sql[at.end:]) -}}
{%- endmacro %}

{#
    A release that was killed after it wrote: its rows leave the quarantine now, unless the table has been restored or
    built anew since. A release that was not killed has a commit in the quarantine, too.
#}
{% macro _finish_release(relation, quarantine, what) -%}
    {%- set name, commits = dbt_delta._named(quarantine), dbt_delta._commits(quarantine) -%}
    {%- set id = dbt_delta._release_state(quarantine, name).id -%}
    {%- set done = commits | map(attribute='released.version') | list -%}
    {%- set at = namespace(last=none) -%}
    {%- for commit in dbt_delta._commits(relation) -%}
        {%- if at.last is not none and commit.version > at.last -%}
            {#- It was undone. -#}
        {%- elif commit.operation == 'RESTORE' -%}
            {%- set at.last = (commit.parameters.get('version') or -1) | int -%}
        {%- elif 'REPLACE' in commit.operation -%}
            {%- set at.last = -1 -%}
        {%- elif commit.released.get('id') == id and commit.released.version not in done
            and commit.released.version >= commits[-1].version -%}
            {%- do dbt_delta._delete_released(name, commit.released) -%}
            {%- do print(what ~ ': an earlier release was finished.') -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _delete_released(name, released) -%}
    {%- call dbt_delta._tagging({'dbt_released': released}) -%}
        {%- do dbt_delta._execute('delete from ' ~ name ~ ' where ' ~ released.where) -%}
    {%- endcall -%}
{%- endmacro %}

{#
    Refuses rows that were quarantined before the model ran without expectations: that run left the quarantine alone,
    and may have written newer rows.
#}
{% macro _check_outdated(node, relation, quarantine, passes, what) -%}
    {%- for commit in dbt_delta._commits(relation) if commit.node == node.unique_id and not commit.expectations
        and (commit.operation in ('MERGE', 'WRITE') or ' AS SELECT' in commit.operation) -%}
        {%- set runs = ["''"] -%}
        {%- for later in dbt_delta._commits(quarantine) if later.time > commit.time and later.run -%}
            {%- do runs.append(dbt_delta._literal(later.run)) -%}
        {%- endfor -%}
        {%- set runs = runs | unique | join(', ') -%}
        {%- set count = dbt_delta._ask(
            'select count(*) from ' ~ dbt_delta._named(quarantine) ~ ' where ' ~ passes
            ~ ' and _invocation_id not in (' ~ runs ~ ')'
        ).rows[0][0] | int -%}
        {%- if count -%}
            {%- do dbt_delta._refuse(
                what ~ ': ' ~ count ~ ' rows are older than version ' ~ commit.version ~ ' of the table, which was '
                ~ 'written without expectations and may have newer ones. Nothing was changed. Add to where: _invocation_id in ('
                ~ runs ~ '), or delete the older rows from the quarantine.'
            ) -%}
        {%- endif -%}
        {{- return(none) -}}
    {%- endfor -%}
{%- endmacro %}

{# The keys by which rows are merged; empty if they are appended. #}
{% macro _released_keys(node) -%}
    {%- set strategy = node.config.get('incremental_strategy') or 'merge' -%}
    {%- set is_keyed = node.config.materialized == 'incremental' and strategy in ('merge', 'delete+insert') -%}
    {{- return(dbt_delta._names(node.config.get('unique_key')) if is_keyed else []) -}}
{%- endmacro %}

{#
    Refuses rows without a key, two rows of one key, keys whose rows delete+insert would replace, and rows that are
    older than that of the table.
#}
{% macro _check_released_keys(node, keys, name, passes, relation, columns, what) -%}
    {%- if not keys -%}{{- return(none) -}}{%- endif -%}
    {%- set list, is_null, same = dbt_delta._quoted_list(keys), [], [] -%}
    {%- for key in keys -%}
        {%- do is_null.append(dbt_delta._quoted(key) ~ ' is null') -%}
        {%- do same.append('old.' ~ dbt_delta._quoted(key) ~ ' = new.' ~ dbt_delta._quoted(key)) -%}
    {%- endfor -%}
    {%- set found = dbt_delta._ask(
        'select coalesce(sum(if(' ~ is_null | join(' or ') ~ ', row_count, 0)), 0) as without, count_if(row_count > 1) as twice '
        ~ 'from (select ' ~ list ~ ', count(*) as row_count from ' ~ name ~ ' where ' ~ passes ~ ' group by ' ~ list ~ ')'
    ).rows[0] -%}
    {%- set there = node.config.get('incremental_strategy') == 'delete+insert' and dbt_delta._ask(
        'select 1 from ' ~ dbt_delta._named(relation) ~ ' as old left semi join (select * from ' ~ name ~ ' where ' ~ passes
        ~ ') as new on ' ~ same | join(' and ') ~ ' limit 1'
    ).rows | length > 0 -%}
    {%- set older = node.config.get('duplicate_keys') == 'latest' and dbt_delta._ask(
        dbt_delta._older_sql(name, passes, relation, keys, columns, node.config.duplicate_keys_order_by)
    ).rows | length > 0 -%}
    {%- if found['without'] | int or found['twice'] | int or there or older -%}
        {%- do dbt_delta._refuse(
            what ~ ' has ' ~ (found['without'] | int ~ ' rows without ' if found['without'] | int
                else found['twice'] | int ~ ' keys with more than one row of ' if found['twice'] | int
                else 'keys that the table has, of ' if there
                else 'rows that are older, by duplicate_keys_order_by, than those of the table, of ')
            ~ 'unique_key ' ~ keys | join(', ') ~ '. Nothing was changed. Narrow where, or correct the source and run the '
            ~ 'model again.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# A row if the table has, for a key of a passing row, one that comes before it. #}
{% macro _older_sql(quarantine, passes, relation, keys, columns, order) -%}
{%- set list = dbt_delta._quoted_list(columns | map(attribute='name')) -%}
{%- set passing = 'select ' ~ list ~ ' from ' ~ quarantine ~ ' where ' ~ passes -%}
{%- set both = 'select *, false as __dbt_is_new from (select ' ~ list ~ ' from ' ~ dbt_delta._named(relation)
    ~ ') left semi join (' ~ passing ~ ') using (' ~ dbt_delta._quoted_list(keys) ~ ')\n    union all\n    '
    ~ 'select *, true as __dbt_is_new from (' ~ passing ~ ')' -%}
{%- set order = (order if order is string else order | join(', ')) ~ ', __dbt_is_new desc' -%}
select 1
from (
    {{ dbt_delta.get_latest_sql(both, keys, order) }}
)
where not __dbt_is_new
limit 1
{%- endmacro %}

{# The statement that writes the passing rows: a MERGE by keys, or an INSERT. #}
{% macro get_release_sql(relation, quarantine, passes, columns, keys, once=none) -%}
{%- set list = dbt_delta._quoted_list(columns | map(attribute='name')) -%}
{%- set same, unchanged, updated, values = [], [], [], [] -%}
{%- for key in keys -%}
    {%- do same.append('old.' ~ dbt_delta._quoted(key) ~ ' = new.' ~ dbt_delta._quoted(key)) -%}
{%- endfor -%}
{%- for column in columns -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {%- do values.append('new.' ~ name) -%}
    {%- do updated.append(name ~ ' = new.' ~ name) -%}
    {%- do unchanged.append(
        dbt_delta._comparable('old.' ~ name, column.type) ~ ' <=> ' ~ dbt_delta._comparable('new.' ~ name, column.type)
    ) -%}
{%- endfor -%}
{%- set select = 'select ' ~ list ~ ' from ' ~ quarantine ~ ' where ' ~ passes -%}
{%- if keys -%}
merge into {{ dbt_delta._named(relation) }} as old
using ({{ select }}) as new
on {{ same | join(' and ') }}
when matched and not ({{ unchanged | join(' and ') }}) then update set {{ updated | join(', ') }}
when not matched then insert ({{ list }}) values ({{ values | join(', ') }})
{%- else -%}
insert into {{ dbt_delta._named(relation) }}
{%- if once is not none %} with ('txnAppId' = {{ dbt_delta._literal(once) }}, 'txnVersion' = '1'){% endif %} by name
{{ select }}
{%- endif -%}
{%- endmacro %}
