{#
    Judges the rows of the model's SELECT. Returns {expectations, columns, from, staging, quarantine, counts, sql}:
    `quarantine` is the one that there is, or none; `counts` are {rows, kept, quarantined, dropped, unwanted, broken:
    {name: rows}}, where `unwanted` break more than a warning; `sql` gives the rows that reach the table. Without
    expectations, and with --empty, `sql` is the SELECT itself and `counts` is none. Refuses what is no expectation, and
    a batch that `fail` does not let through. Stores the rows with `staged`, and where some are unwanted. `batch` is the
    number of a stream's batch.
#}
{% macro _judge(sql, expectations, staged=true, batch=none) -%}
    {%- do dbt_delta._check_ephemeral_inputs(model) -%}
    {%- if not expectations -%}{{- return(dbt_delta._unjudged(sql)) -}}{%- endif -%}
    {%- set expectations = dbt_delta._of_images(expectations) -%}
    {%- set columns = dbt_delta._columns_of(sql, stored=true) -%}
    {%- do dbt_delta._check_expectations(expectations, columns, model.name) -%}
    {%- do dbt_delta._in_format('check_columns')(columns, model.name) -%}
    {%- set quarantine = dbt_delta._existing_quarantine(dbt_delta._quarantine_of(this), expectations) -%}
    {%- if flags.EMPTY -%}{{- return(dbt_delta._unjudged(sql)) -}}{%- endif -%}
    {%- set judged = dict(dbt_delta._judged(sql, columns, expectations), quarantine=quarantine) -%}
    {%- set is_stored = staged or dbt_delta._is_judged_once(sql, judged) -%}
    {%- if not is_stored -%}{%- set judged = dbt_delta._count_judged(judged) -%}{%- endif -%}
    {%- if is_stored or judged.counts.unwanted -%}
        {#- Sample rows, quarantine and table are made of the bad rows, too. -#}
        {%- set judged = dbt_delta._count_judged(dbt_delta._store_judged(judged)) -%}
    {%- endif -%}
    {%- do dbt_delta._check_limits(judged) -%}
    {{- return(dict(judged, sql=dbt_delta._kept_sql(judged), batch=batch)) -}}
{%- endmacro %}

{# The record of rows that are stored beside the table. #}
{% macro _store_judged(judged) -%}
    {%- set staging = dbt_delta._beside(this, 'tmp', of='judged') -%}
    {%- do run_query(dbt_delta.get_create_staging_sql(dbt_delta._named(staging), 'select * from ' ~ judged.from)) -%}
    {{- return(dict(judged, **{'from': dbt_delta._named(staging), 'staging': staging})) -}}
{%- endmacro %}

{% macro _unjudged(sql) -%}
    {{- return({
        'expectations': [], 'sql': sql, 'columns': [], 'from': none, 'staging': none, 'counts': none, 'batch': none,
    }) -}}
{%- endmacro %}

{#
    Whether the rows must be stored to be judged: to evaluate the SELECT again would cost more, or could give other rows
    or another judgement. It gives the same if it, its views and the expectations depend on versions of Delta tables only,
    and not on the quarantine, which is written in between. Spark's plan tells, which only the embedded session has.
#}
{% macro _is_judged_once(sql, judged) -%}
    {%- set quarantine = dbt_delta._quarantine_of(this) -%}
    {{- return(
        config.get('stage') == 'table'
        or dbt_delta._is_expensive(sql, model.depends_on.nodes)
        or adapter.dbt_delta_is_repeatable is not defined
        or not adapter.dbt_delta_is_repeatable('select * from ' ~ judged.from, quarantine.schema, quarantine.identifier)
    ) -}}
{%- endmacro %}

{# The record of rows that are read from the SELECT itself. #}
{% macro _judged(sql, columns, expectations) -%}
    {%- set stored = [] -%}
    {%- for column in columns -%}
        {%- do stored.append({'name': column.name, 'type': dbt_delta._stored_type(column.type)}) -%}
    {%- endfor -%}
    {{- return(dict(dbt_delta._unjudged(sql), **{
        'expectations': expectations, 'columns': stored,
        'from': '(\n' ~ dbt_delta._judged_sql(sql, columns, expectations) ~ '\n)',
    })) -}}
{%- endmacro %}

{# Refuses columns that the quarantine adds, and expressions that Spark refuses as a condition on one row. #}
{% macro _check_expectations(expectations, columns, node) -%}
    {%- for name in dbt_delta._quarantine_names() if dbt_delta._column(columns, name) is not none -%}
        {%- do dbt_delta._refuse(
            'Expectation ' ~ expectations[0].name ~ ' of ' ~ node ~ ': the model has a column ' ~ name
            ~ ', which its quarantine adds itself. Rename it.'
        ) -%}
    {%- endfor -%}
    {%- set nulls, all = [], [] -%}
    {%- for column in columns -%}
        {%- do nulls.append(
            'cast(null as ' ~ dbt_delta._stored_type(column.type) ~ ') as ' ~ dbt_delta._quoted(column.name)
        ) -%}
    {%- endfor -%}
    {%- for one in expectations -%}{%- do all.append(dbt_delta._holds(one)) -%}{%- endfor -%}
    {%- set start = 'select 1 from (select ' ~ nulls | join(', ') ~ ') as judged where ' -%}
    {%- if not dbt_delta._problem_of(start ~ all | join(' and ')) -%}{{- return(none) -}}{%- endif -%}
    {%- for one in expectations -%}
        {%- set problem = dbt_delta._problem_of(start ~ all[loop.index0]) -%}
        {%- if problem -%}
            {%- do dbt_delta._refuse(
                'Expectation ' ~ one.name ~ ' of ' ~ node ~ ' is ' ~ one.expression ~ '. Spark refuses it as a '
                ~ 'condition on one row: ' ~ problem ~ ' Nothing was written. Correct it; what needs other rows is a '
                ~ 'data test.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# Why Spark cannot plan a statement, in one line; empty if it can. #}
{% macro _problem_of(sql) -%}
    {{- return(
        adapter.dbt_delta_problem(sql) if adapter.dbt_delta_problem is defined
        else dbt_delta._attempt(sql ~ ' limit 0').problem
    ) -}}
{%- endmacro %}

{# The record with what was counted. #}
{% macro _count_judged(judged) -%}
    {%- set found, broken = run_query(dbt_delta._judged_counts_sql(judged)).rows[0], {} -%}
    {%- for one in judged.expectations -%}
        {%- do broken.update({one.name: found['broken_' ~ loop.index0] | int}) -%}
    {%- endfor -%}
    {%- set counts = {
        'rows': found['row_count'] | int, 'kept': found['kept'] | int, 'quarantined': found['quarantined'] | int,
        'dropped': found['dropped'] | int, 'unwanted': found['unwanted'] | int, 'broken': broken,
    } -%}
    {%- if counts.rows != counts.kept + counts.quarantined + counts.dropped -%}
        {%- do dbt_delta._refuse(
            'The rows of ' ~ model.name ~ ' do not add up: ' ~ counts.rows ~ ' read, ' ~ counts.kept ~ ' kept, '
            ~ counts.quarantined ~ ' quarantined, ' ~ counts.dropped ~ ' dropped. Nothing was written.'
        ) -%}
    {%- endif -%}
    {{- return(dict(judged, counts=counts)) -}}
{%- endmacro %}

{# Refuses rows beyond the limit of an expectation with action fail, with five of them. #}
{% macro _check_limits(judged) -%}
    {%- set counts = judged.counts -%}
    {%- for one in judged.expectations if one.action == 'fail' and counts.broken[one.name] > 0 -%}
        {%- set broken, fields = counts.broken[one.name], [] -%}
        {%- set is_over = (one.max_rows is none and one.max_percent is none)
            or (one.max_rows is not none and broken > one.max_rows)
            or (one.max_percent is not none and 100 * broken > one.max_percent * counts.rows) -%}
        {%- if is_over -%}
            {%- for column in judged.columns -%}
                {%- do fields.append({'name': column.name, 'value': dbt_delta._quoted(column.name)}) -%}
            {%- endfor -%}
            {%- set rows = run_query(
                'select ' ~ dbt_delta._shown_json(fields, dbt_delta._masked_here()) ~ ' as row_text from ' ~ judged.from
                ~ ' as judged where __dbt_breaks_' ~ judged.expectations.index(one) ~ ' limit 5'
            ).rows -%}
            {%- if judged.staging is not none -%}{%- do dbt_delta._drop(judged.staging) -%}{%- endif -%}
            {%- set limits = [] -%}
            {%- do limits.append('max_rows ' ~ one.max_rows) if one.max_rows is not none -%}
            {%- do limits.append('max_percent ' ~ one.max_percent) if one.max_percent is not none -%}
            {%- do dbt_delta._refuse(
                broken ~ ' of ' ~ counts.rows ~ ' rows of ' ~ model.name ~ ' break expectation ' ~ one.name ~ ' ('
                ~ one.expression ~ ')' ~ (', ' ~ limits | join(', ') if limits else '') ~ ': '
                ~ rows | map(attribute='row_text') | join(', ') ~ '. Nothing was written. Correct the rows, or use '
                ~ 'action quarantine.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{#
    Writes the quarantined rows of this run: one commit, or none if the quarantine has all of them. `columns` are those
    of the table after the run, {name, type, source, source_type}; for `scope` see _new_quarantine_sql. Returns the run
    whose rows it took out because that run was killed, or none.
#}
{% macro _quarantine(judged, columns, scope) -%}
    {%- if not judged.expectations -%}{{- return(none) -}}{%- endif -%}
    {%- set relation = dbt_delta._quarantine_of(this) -%}
    {%- set name = dbt_delta._named(relation) -%}
    {%- set existing = judged.quarantine -%}
    {%- do dbt_delta._check_values(name, {
        'from': '(' ~ dbt_delta._diverted_sql(judged) ~ ')', 'staging': judged.staging,
        'columns': columns | selectattr('source') | list,
    }) if judged.counts.quarantined -%}
    {%- if existing is not none and existing.type == 'view' -%}
        {%- do dbt_delta._drop(relation, 'view') -%}
        {%- do adapter.cache_dropped(existing.relation) -%}
        {%- set existing = none -%}
    {%- elif existing is none and scope.kind != 'all' and judged.counts.quarantined -%}
        {#- Another run may have made it since the rows were judged. -#}
        {%- set existing = dbt_delta._existing_quarantine(relation, judged.expectations) -%}
    {%- endif -%}
    {%- if existing is none or dbt_delta._starts_anew(existing, columns, scope) -%}
        {%- if existing is none and not judged.counts.quarantined -%}{{- return(none) -}}{%- endif -%}
        {%- set sql = dbt_delta._create_quarantine_sql(name, judged, columns, existing) -%}
        {%- set lost_sql = dbt_delta._in_format('lost_sql')(relation, existing) -%}
    {%- else -%}
        {%- set scope = dbt_delta._scope_with_broken_off(existing, scope) -%}
        {%- do dbt_delta._align_quarantine(existing, columns) -%}
        {%- if existing.get('snapshot') is not none -%}
            {#- What replaces rows relies on it, and it may be older than the SELECT took. -#}
            {%- set existing = dbt_delta._existing(relation) or existing -%}
        {%- endif -%}
        {%- set columns = dbt_delta._all_quarantine_columns(existing, columns) -%}
        {%- if not run_query(dbt_delta._quarantine_difference_sql(name, judged, columns, scope)).rows -%}
            {{- return(none) -}}
        {%- endif -%}
        {%- set sql = dbt_delta._quarantined_sql(name, judged, columns, scope, scope.kind != 'none') -%}
        {%- set sql = 'insert into ' ~ name ~ ' by name\n' ~ sql if scope.kind == 'none'
            else dbt_delta._in_format('overwrite_by_name_sql')(dict(existing, name=name), sql) -%}
    {%- endif -%}
    {%- call dbt_delta._tagging(dbt_delta._expectations_tag(judged, scope)) -%}{%- do run_query(sql) -%}{%- endcall -%}
    {%- do dbt_delta._check_lost(existing, lost_sql | default(none)) -%}
    {%- if existing is none -%}{%- do adapter.cache_added(relation) -%}{%- endif -%}
    {{- return(scope.took) -}}
{%- endmacro %}

{#
    The quarantine that there is, or none. Refuses another table or view with its name, and leaves it alone if the model
    quarantines nothing.
#}
{% macro _existing_quarantine(relation, expectations) -%}
    {%- set existing = dbt_delta._existing(relation) -%}
    {%- if existing is none -%}{{- return(none) -}}{%- endif -%}
    {%- for name in dbt_delta._quarantine_names() if dbt_delta._column(existing.columns, name) is none -%}
        {%- if not dbt_delta._diverting(expectations, ['quarantine']) -%}{{- return(none) -}}{%- endif -%}
        {%- do dbt_delta._refuse(
            dbt_delta._named(relation) ~ ' is no quarantine: it has no column ' ~ name
            ~ '. Nothing was written. Rename or drop it, or rename the model.'
        ) -%}
    {%- endfor -%}
    {{- return(existing) -}}
{%- endmacro %}

{# Whether a build of all rows has other columns than the quarantine. #}
{% macro _starts_anew(existing, columns, scope) -%}
    {%- if scope.kind != 'all' -%}{{- return(false) -}}{%- endif -%}
    {%- set found, wanted, own = [], [], dbt_delta._quarantine_names() -%}
    {%- for column in existing.columns if column.name not in own -%}
        {%- do found.append((column.name, column.type)) -%}
    {%- endfor -%}
    {%- for column in columns -%}{%- do wanted.append((column.name, column.type)) -%}{%- endfor -%}
    {{- return(found | sort != wanted | sort) -}}
{%- endmacro %}

{# Adds the table's new columns to the quarantine and widens its types. It keeps columns that the table lost. #}
{% macro _align_quarantine(existing, columns) -%}
    {%- set changes = [] -%}
    {%- for change in dbt_delta._column_changes(columns, existing.columns) if change.kind != 'drop' -%}
        {%- if change.kind == 'retype' and not dbt_delta._fits(change.type, change.was)
            and not dbt_delta._widens(change.was, change.type) -%}
            {%- do dbt_delta._refuse(
                'Column ' ~ change.path | join('.') ~ ' of ' ~ dbt_delta._named(existing.relation) ~ ' is ' ~ change.was
                ~ ' and would have to be ' ~ change.type ~ '. Nothing was written. Drop the quarantine, or rebuild the '
                ~ 'model with --full-refresh.'
            ) -%}
        {%- elif change.kind == 'add' or not dbt_delta._fits(change.type, change.was) -%}
            {%- do changes.append(change) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do dbt_delta._align(existing, none, changes) -%}
{%- endmacro %}

{# All columns of the quarantine, those that the table lost included. #}
{% macro _all_quarantine_columns(existing, columns) -%}
    {%- set all, own = columns | list, dbt_delta._quarantine_names() -%}
    {%- for column in existing.columns if column.name not in own and dbt_delta._column(columns, column.name) is none -%}
        {%- do all.append({'name': column.name, 'type': column.type, 'source': none}) -%}
    {%- endfor -%}
    {{- return(all) -}}
{%- endmacro %}

{#
    The last commit of a quarantine whose run was killed before it wrote the table, or none. The commit says how many
    rows the table should have got. A table whose history does not go back to that commit does not say whether it got
    them: it was built anew, or its log has expired.
#}
{% macro _broken_off(quarantine, scope) -%}
    {%- set at = namespace(last=none) -%}
    {%- for limit in (1, none) -%}
        {%- for commit in (dbt_delta._commits(quarantine, limit) if at.last is none else [])
            if at.last is none and (commit.expectations or commit.operation == 'RESTORE') -%}
            {%- set at.last = commit -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set last = at.last -%}
    {%- if last is none or not last.expectations or last.run == invocation_id or (last.expectations.get('scope') != 'all'
        and not (scope.is_repeated and last.expectations.get('kept'))) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- for limit in (1, none) -%}
        {%- set commits = dbt_delta._commits(this, limit) -%}
        {%- if dbt_delta._has_written(commits, last) or (limit is none and commits[-1].time > last.time) -%}
            {{- return(none) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(last) -}}
{%- endmacro %}

{#
    The scope of a run after one that was killed. An append is run again with the rows of its batch: what it left in the
    quarantine is replaced. A build has replaced all rows of the quarantine, and the table that goes on is the old one.
#}
{% macro _scope_with_broken_off(existing, scope) -%}
    {%- if scope.kind == 'all' -%}{{- return(scope) -}}{%- endif -%}
    {%- set left = dbt_delta._broken_off(existing.relation, scope) -%}
    {%- if left is none -%}{{- return(scope) -}}{%- endif -%}
    {%- if left.expectations.get('scope') == 'all' and left.version > 0 -%}
        {%- do dbt_delta._refuse(
            'The build of ' ~ dbt_delta._bare(this) ~ ' by run ' ~ left.run ~ ' replaced ' ~ dbt_delta._named(existing.relation)
            ~ ' in version ' ~ left.version ~ ', and was killed before it wrote the table. Nothing was written. Run it again '
            ~ 'with --full-refresh, or restore the version before.'
        ) -%}
    {%- elif not scope.is_repeated -%}
        {{- return(scope) -}}
    {%- endif -%}
    {{- return(dict(
        scope, kind='where', where='false', old_where='_invocation_id = ' ~ dbt_delta._literal(left.run), took=left.run
    )) -}}
{%- endmacro %}

{#
    Two runs of an append at a time: one may have taken the other for killed, and its rows out of the quarantine. They
    are put back by the one that sees both commits.
#}
{% macro _put_back_quarantined(judged, took) -%}
    {%- if took is none and not (judged.expectations and judged.counts.quarantined) -%}{{- return(none) -}}{%- endif -%}
    {%- set relation = dbt_delta._quarantine_of(this) -%}
    {%- if took is none and dbt_delta._commits(relation, 1)[0].run == invocation_id -%}{{- return(none) -}}{%- endif -%}
    {%- set commits, name = dbt_delta._commits(relation), dbt_delta._named(relation) -%}
    {%- for commit in commits if commit.expectations.get('took') -%}
        {%- set run = commit.expectations.took -%}
        {%- set own = commits | selectattr('run', 'equalto', run) | selectattr('expectations') | list -%}
        {%- if own and (run == invocation_id or (
            commit.run == invocation_id and dbt_delta._has_written(dbt_delta._commits(this), own[0])
        )) -%}
            {%- set mine = ' where _invocation_id = ' ~ dbt_delta._literal(run) -%}
            {%- do dbt_delta._execute(
                'insert into ' ~ name ~ ' by name\nselect * from '
                ~ dbt_delta._in_format('as_of')(relation, dbt_delta._readable(commits, own[0].version)) ~ mine
                ~ ' and not exists (select 1 from ' ~ name ~ ' as now' ~ mine | replace(' _inv', ' now._inv') ~ ')'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# The tag of a commit: what became of the rows of its run. That of a quarantine says which of its rows were replaced. #}
{% macro _expectations_tag(judged, scope=none) -%}
    {%- if not judged.expectations -%}{{- return({}) -}}{%- endif -%}
    {%- set named, start = {}, model.config.get('__dbt_internal_microbatch_event_time_start') -%}
    {%- set batch = start if start else judged.get('batch') -%}
    {%- for one in judged.expectations -%}
        {%- do named.update({one.name: {'action': one.action, 'rows': judged.counts.broken[one.name]}}) -%}
    {%- endfor -%}
    {%- set of_quarantine = {'scope': scope.kind} if scope is not none else {} -%}
    {%- do of_quarantine.update({'took': scope.took}) if scope is not none and scope.took -%}
    {{- return({'dbt_expectations': dict({
        'rows': judged.counts.rows, 'kept': judged.counts.kept, 'quarantined': judged.counts.quarantined,
        'dropped': judged.counts.dropped, 'batch': batch | string if batch is not none else '', 'expectations': named,
    }, **of_quarantine)}) -}}
{%- endmacro %}

{#
    Ends a judged run: drops its rows, and says on the console what became of them. Of a stream, what became of those of
    all batches until then.
#}
{% macro _finish_judged(judged) -%}
    {%- if not judged.expectations -%}{{- return(none) -}}{%- endif -%}
    {%- if judged.staging is not none -%}{%- do dbt_delta._drop(judged.staging) -%}{%- endif -%}
    {%- if judged.get('batch') is not none -%}
        {%- do dbt_delta._memory('judged').setdefault(model.unique_id, []).append(judged) -%}
    {%- else -%}
        {%- do dbt_delta._say_judged([judged]) -%}
    {%- endif -%}
{%- endmacro %}

{# Adds to the message of the node what became of the rows of its batches. #}
{% macro _say_judged(batches) -%}
    {%- set counts, parts, main = batches | map(attribute='counts') | list, [], load_result('main') -%}
    {%- for what in ('quarantined', 'dropped') -%}
        {%- set count = counts | map(attribute=what) | sum -%}
        {%- do parts.append(what ~ ' ' ~ count) if count -%}
    {%- endfor -%}
    {%- for one in batches[0].expectations if one.action in ('warn', 'fail') -%}
        {%- set count = counts | map(attribute='broken') | map(attribute=one.name) | sum -%}
        {%- do parts.append(one.name ~ ' ' ~ count) if count -%}
    {%- endfor -%}
    {%- if parts and main is not none -%}
        {%- set response = main['response'] -%}
        {%- set text = response._message if response._message is defined else response | string -%}
        {%- do store_raw_result(
            'main', message=text ~ ', ' ~ parts | join(', '), code=response.code if response.code is defined else none,
            rows_affected=response.rows_affected if response.rows_affected is defined else none
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# The quarantine of a build: all of it is replaced. #}
{% macro _quarantine_build(judged, left_out=[]) -%}
    {%- if not judged.expectations -%}{{- return(none) -}}{%- endif -%}
    {%- set columns, without = [], left_out | map('lower') | list -%}
    {%- for column in judged.columns if column.name | lower not in without -%}
        {%- do columns.append(dict(column, source=column.name, source_type=column.type)) -%}
    {%- endfor -%}
    {%- do dbt_delta._quarantine(judged, columns, dbt_delta._scope('all')) -%}
{%- endmacro %}

{# The quarantine of an incremental run: it replaces what the strategy replaces. Returns what _quarantine does. #}
{% macro _quarantine_batch(judged, table, batch, settings) -%}
    {%- if not judged.expectations -%}{{- return(none) -}}{%- endif -%}
    {%- set columns = [] -%}
    {%- for column in batch.target_columns -%}
        {%- set found = dbt_delta._column(batch.columns, column.name) -%}
        {%- do columns.append(
            dict(column, source=found.source if found else none, source_type=found.source_type if found else none)
        ) -%}
    {%- endfor -%}
    {%- for column in batch.columns if dbt_delta._column(columns, column.name) is none -%}
        {#- The MERGE brings it into the table. -#}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{- return(dbt_delta._quarantine(judged, columns, dbt_delta._batch_scope(table, batch, settings))) -}}
{%- endmacro %}

{#
    The same of a view: the expectations are in its text, and its quarantine is a view, too. Its rows are looked at
    when it is built.
#}
{% macro _judge_view(sql) -%}
    {%- set expectations = dbt_delta._expectations(model) -%}
    {%- do dbt_delta._check_ephemeral_inputs(model) -%}
    {%- if not expectations -%}{{- return(dbt_delta._unjudged(sql)) -}}{%- endif -%}
    {%- set columns = dbt_delta._columns_of(sql) -%}
    {%- do dbt_delta._check_expectations(expectations, columns, model.name) -%}
    {%- do dbt_delta._in_format('check_columns')(columns, model.name) -%}
    {%- set judged = dbt_delta._judged(sql, columns, expectations) -%}
    {%- if not flags.EMPTY -%}
        {%- set judged = dbt_delta._count_judged(judged) -%}
        {%- do dbt_delta._check_limits(judged) -%}
    {%- endif -%}
    {%- if dbt_delta._diverting(expectations, ['quarantine']) -%}
        {%- do dbt_delta._build_quarantine_view(dbt_delta._quarantine_view_sql(judged), expectations) -%}
    {%- endif -%}
    {%- set sql = dbt_delta._good_view_sql(sql, expectations) -%}
    {{- return(dbt_delta._unjudged(sql) if flags.EMPTY else dict(judged, sql=sql)) -}}
{%- endmacro %}

{% macro _build_quarantine_view(sql, expectations) -%}
    {%- set relation = dbt_delta._quarantine_of(this) -%}
    {%- set existing = dbt_delta._existing_quarantine(relation, expectations) -%}
    {%- if existing is not none and existing.type != 'view' -%}
        {%- do dbt_delta._refuse(
            dbt_delta._named(relation) ~ ' is a table with the rows of earlier builds, and the model is a view now. '
            ~ 'Nothing was changed. Rename or drop it.'
        ) -%}
    {%- elif existing is none or existing.text | trim != sql | trim -%}
        {%- set words = 'create' if existing is none else 'alter' if dbt_delta._in_format('alters_views')()
            else 'create or replace' -%}
        {%- do run_query(words ~ ' view ' ~ dbt_delta._named(relation) ~ ' as\n' ~ sql) -%}
        {%- do adapter.cache_added(relation.incorporate(type='view')) if existing is none -%}
    {%- endif -%}
{%- endmacro %}
