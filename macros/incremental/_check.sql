{% macro _checks_batch(settings) -%}
    {{- return(
        settings.duplicate_keys == 'error'
        or settings.null_keys == 'error'
        or (settings.strategy in ('merge', 'delete+insert') and settings.unique_key | length > 0)
        or (settings.strategy == 'replace_where' and settings.predicates | length > 0)
    ) -}}
{%- endmacro %}

{#
    One row about the batch: row_count, duplicate_keys, null_rows, for each bounded key low_N, high_N,
    nulls_N, values_N, and lost_N: what the Nth of `losses` counts.
#}
{% macro get_batch_check_sql(from, settings, bounded, losses=[]) -%}
{%- set keys, is_null = [], [] -%}
{%- for key in settings.unique_key -%}
    {%- do keys.append(dbt_delta._quoted(key)) -%}
    {%- do is_null.append(dbt_delta._quoted(key) ~ ' is null') -%}
{%- endfor -%}
select
    coalesce(sum(__dbt_rows), 0) as row_count,
    count_if(__dbt_rows > 1) as duplicate_keys,
    coalesce(sum(case when {{ is_null | join(' or ') }} then __dbt_rows end), 0) as null_rows
    {{- dbt_delta._bound_values(bounded) }}
    {%- for loss in losses %},
    {{ loss.count }} as lost_{{ loop.index0 }}
    {%- endfor %}
from (
    select
        {{ keys | join(', ') }},
        count(*) as __dbt_rows
    from {{ from }} as batch
    group by {{ keys | join(', ') }}
) as __dbt_keys
{%- endmacro %}

{# Refuses a batch whose keys are not what the configuration says, naming the first five. #}
{% macro _check_keys(target, batch, settings, found, is_build=false) -%}
    {%- set keys = settings.unique_key -%}
    {%- set refuse_duplicates = settings.duplicate_keys == 'error'
        or (settings.strategy == 'merge' and settings.duplicate_keys is none
            and (not is_build or settings.delete_condition)) -%}
    {%- if settings.null_keys == 'error' and found['null_rows'] | int > 0 -%}
        {%- do dbt_delta._refuse_keys(
            target, batch, keys, found['null_rows'] | int, 'null keys',
            where=dbt_delta._null_condition(keys),
            way_out="Filter them out, or set null_keys: match, by which NULL is a key like any other."
        ) -%}
    {%- elif refuse_duplicates and found['duplicate_keys'] | int > 0 -%}
        {%- do dbt_delta._refuse_keys(
            target, batch, keys, found['duplicate_keys'] | int, 'duplicate keys',
            having='having count(*) > 1',
            way_out='Make the model give one row per key, or set duplicate_keys: latest with '
                ~ 'duplicate_keys_order_by.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    How keys of the batch can get lost on their way into the table, {count, problem}: what is stored is
    then another value, so that the next run does not find it and inserts the row once more.
#}
{% macro _key_losses(target, batch, settings, bounded) -%}
    {%- set losses = [] -%}
    {%- set partitions = target.partitions | map('lower') | list -%}
    {%- set compared = partitions + bounded | map(attribute='name') | map('lower') | list -%}
    {%- for name in settings.unique_key -%}
        {%- set column = dbt_delta._column(batch.columns, name) -%}
        {%- set key = dbt_delta._quoted(name) -%}
        {%- if column is not none and not dbt_delta._fits(column.source_type, column.type) -%}
            {%- set altered = dbt_delta._altered(key, column.source_type, column.type) -%}
            {%- if altered -%}
                {%- do losses.append({
                    'count': dbt_delta._rows_where(altered),
                    'problem': 'are ' ~ column.source_type ~ ' and another value as ' ~ column.type
                        ~ ', the type in the table. Cast ' ~ name ~ ' in the model',
                }) -%}
            {%- endif -%}
            {%- do losses.append({
                'count': 'count(distinct ' ~ key ~ ') - count(distinct '
                    ~ dbt_delta._stored(column) | replace('cast(', 'try_cast(', 1) ~ ')',
                'problem': 'are ' ~ column.source_type ~ ' and the same value as another one as ' ~ column.type
                    ~ ', the type in the table. Cast ' ~ name ~ ' in the model',
            }) -%}
        {%- endif -%}
        {%- if column is not none and column.source_type == 'string' and name | lower in compared -%}
            {#- Statistics and partitions have another text in their place. -#}
            {%- do losses.append({
                'count': dbt_delta._rows_where('not is_valid_utf8(' ~ key ~ ')'),
                'problem': 'are no valid UTF-8. Correct them, or take hex(' ~ name ~ ') for a key',
            }) -%}
        {%- endif -%}
        {%- if column is not none and column.source_type == 'string' and name | lower in partitions -%}
            {%- do losses.append({
                'count': dbt_delta._rows_where(key ~ " in ('', '__HIVE_DEFAULT_PARTITION__')"),
                'problem': 'are empty, and Delta stores an empty text in a partition column as NULL, as it does '
                    ~ '__HIVE_DEFAULT_PARTITION__. Give them a text, or NULL',
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(losses) -}}
{%- endmacro %}

{% macro _rows_where(condition) -%}
    {{- return('coalesce(sum(case when ' ~ condition ~ ' then __dbt_rows end), 0)') -}}
{%- endmacro %}

{# Refuses keys that would not be found again. #}
{% macro _check_losses(target, batch, settings, losses, found) -%}
    {%- for loss in losses -%}
        {%- set count = found['lost_' ~ loop.index0] | int -%}
        {%- if count > 0 -%}
            {%- do dbt_delta._refuse_batch(
                batch,
                count ~ ' keys of the batch for ' ~ target.name ~ ', unique_key ' ~ settings.unique_key | join(', ')
                ~ ', ' ~ loss.problem ~ '. Nothing was written.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _null_condition(keys) -%}
    {%- set conditions = [] -%}
    {%- for key in keys -%}{%- do conditions.append(dbt_delta._quoted(key) ~ ' is null') -%}{%- endfor -%}
    {{- return('where ' ~ conditions | join(' or ')) -}}
{%- endmacro %}

{% macro _refuse_keys(target, batch, keys, total, problem, way_out, where='', having='') -%}
    {%- set list, fields = dbt_delta._quoted_list(keys), [] -%}
    {%- for key in keys -%}{%- do fields.append({'name': key, 'value': dbt_delta._quoted(key)}) -%}{%- endfor -%}
    {%- set rows = run_query(
        'select ' ~ dbt_delta._shown_json(fields, dbt_delta._masked_here()) ~ ' as key, count(*) as row_count from '
        ~ batch.from ~ ' ' ~ where ~ ' group by ' ~ list ~ ' ' ~ having ~ ' order by ' ~ list ~ ' limit 5'
    ).rows -%}
    {%- set examples = [] -%}
    {%- for row in rows -%}
        {%- do examples.append(row['key'] ~ ' (' ~ row['row_count'] | int ~ ' rows)') -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_batch(
        batch,
        'The batch for ' ~ target.name ~ ' has ' ~ problem ~ ' of unique_key ' ~ keys | join(', ')
        ~ ': ' ~ total ~ ', the first ' ~ examples | join(', ') ~ '. Nothing was written. ' ~ way_out
    ) -%}
{%- endmacro %}

{# Refuses a condition of the configuration that Spark cannot read, by the name of its config. #}
{% macro _check_conditions(target, batch, settings) -%}
    {%- if adapter.dbt_delta_problem is not defined -%}{{- return(none) -}}{%- endif -%}
    {%- set of_table, added = target.name ~ dbt_delta._as_dest(settings), [] -%}
    {%- for change in batch.changes if change.kind == 'add' -%}
        {%- if change.path | length > 1 -%}{{- return(none) -}}{%- endif -%}
        {%- do added.append(
            'cast(null as ' ~ dbt_delta._stored_type(change.type) ~ ') as ' ~ dbt_delta._quoted(change.path[0])
        ) -%}
    {%- endfor -%}
    {%- if added -%}
        {#- A condition may name what a schema change is about to add. -#}
        {%- set of_table = '(select *, ' ~ added | join(', ') ~ ' from ' ~ target.name ~ ')'
            ~ dbt_delta._as_dest(settings) -%}
    {%- endif -%}
    {%- set of_both = of_table ~ ' cross join ' ~ batch.from ~ ' as ' ~ settings.source_alias -%}
    {%- set is_merge = settings.strategy == 'merge' -%}
    {%- for from, name, condition in [
        (of_both, 'matched_delete_condition', settings.delete_condition),
        (of_both, 'matched_condition', settings.matched_condition if is_merge else none),
        (of_both, 'not_matched_condition', settings.not_matched_condition if is_merge else none),
        (of_table, 'not_matched_by_source_condition', settings.by_source_condition if is_merge else none),
        (
            of_both if is_merge else batch.from ~ ' as batch' if settings.predicates_limit_batch
                and settings.strategy == 'delete+insert' else of_table,
            'incremental_predicates',
            dbt_delta._all_of(settings.predicates) if settings.strategy in dbt_delta._strategies() else none,
        ),
    ] if condition -%}
        {%- set problem = adapter.dbt_delta_problem(
            'select (' ~ condition ~ ') as is_so from ' ~ from
        ) -%}
        {%- if problem -%}
            {%- do dbt_delta._refuse(
                name ~ ' of ' ~ target.name ~ ' is ' ~ condition ~ ', and Spark says: ' ~ problem
                ~ ' Nothing was written.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# Refuses rows that a replace_where would write outside of what it replaces. #}
{% macro _check_predicate(target, batch, predicates) -%}
    {%- set predicate = dbt_delta._all_of(predicates) -%}
    {%- set outside = run_query(
        'select count(*) as row_count, count_if(__dbt_inside is not true) as outside from (select ('
        ~ predicate ~ ') as __dbt_inside from ' ~ batch.from ~ ') as __dbt_batch'
    ).rows[0] -%}
    {%- do batch.update({'rows': outside['row_count'] | int}) -%}
    {%- if outside['outside'] | int > 0 -%}
        {%- do dbt_delta._refuse_batch(
            batch,
            outside['outside'] | int ~ ' of ' ~ outside['row_count'] | int ~ ' rows of the batch for '
            ~ target.name ~ ' are outside of what is replaced, ' ~ predicate
            ~ '. Nothing was written. Filter the model by the same condition, or widen incremental_predicates.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Refuses values that the table's columns would store as others, such as 1.5 in an int. Spark fails for what a
    column cannot hold at all. Keys were looked at before.
#}
{% macro _check_values(name, batch, keys=[]) -%}
    {%- set losses = [] -%}
    {%- for column in batch['columns'] if column.name | lower not in keys | map('lower') | list
        and not dbt_delta._fits(column.source_type, column.type) -%}
        {%- set altered = dbt_delta._altered(dbt_delta._quoted(column.source), column.source_type, column.type) -%}
        {%- if altered -%}{%- do losses.append(dict(column, altered=altered)) -%}{%- endif -%}
    {%- endfor -%}
    {%- if not losses -%}{{- return(none) -}}{%- endif -%}
    {%- set found = run_query(dbt_delta.get_losses_sql(batch.from, losses)).rows[0] -%}
    {%- for column in losses -%}
        {%- set count, example = found[2 * loop.index0] | int, found[2 * loop.index0 + 1] -%}
        {%- if count > 0 -%}
            {%- do dbt_delta._refuse_batch(
                batch,
                'Column ' ~ column.source ~ ' of ' ~ count ~ ' rows of the batch for ' ~ name ~ ' is '
                ~ column.source_type ~ ' and another value as ' ~ column.type ~ ', the type in the table, for example '
                ~ example ~ '. Nothing was written. Cast the column to that type, or give the table a wider one.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# For each of some columns how many rows have a value that would be altered, and one of them. #}
{% macro get_losses_sql(from, losses) -%}
    {%- set counts = [] -%}
    {%- for column in losses -%}
        {%- do counts.append('count_if(' ~ column.altered ~ ')') -%}
        {%- set shown = dbt_delta._shown_json(
            [{'name': column.source, 'value': dbt_delta._quoted(column.source)}], dbt_delta._masked_here()
        ) -%}
        {%- do counts.append('first(' ~ shown ~ ') filter (where ' ~ column.altered ~ ')') -%}
    {%- endfor -%}
select {{ counts | join(',\n    ') }}
from {{ from }} as batch
{%- endmacro %}

{#
    Refuses rows that the table's constraints forbid while the table is as it was: the write itself would
    fail after the table was altered. Rows of which it is not sure that they are written, and constraints on
    columns that the batch lacks, are left to the write.
#}
{% macro _check_constraints(existing, batch, settings, promised) -%}
    {%- set limited = settings.predicates and settings.strategy in ('merge', 'delete+insert') -%}
    {%- if settings.strategy not in dbt_delta._strategies() or limited or settings.strategy == 'merge' and (
        settings.schema_evolution or settings.matched_condition or settings.not_matched_condition or settings.skip_matched
        or settings.skip_not_matched or settings.update_columns or settings.exclude_columns
        or settings.delete_condition
    ) -%}{{- return(none) -}}{%- endif -%}
    {%- set surplus = dbt_delta._surplus_checks(existing, promised) if promised is not none else [] -%}
    {%- set checks = dict(promised.checks) if promised is not none else {} -%}
    {%- for name in dbt_delta._constraint_names(existing.properties) if name not in surplus -%}
        {%- set expression = existing.properties['delta.constraints.' ~ name] -%}
        {%- if expression is not none -%}{%- do checks.setdefault(name, expression) -%}{%- endif -%}
    {%- endfor -%}
    {%- do checks.update(dbt_delta._column_checks(batch)) -%}
    {%- for column in batch.target_columns if dbt_delta._column(batch.columns, column.name) is none -%}
        {%- for name, expression in checks.items() | list if dbt_delta._mentions(expression, [column.name]) -%}
            {%- do checks.pop(name) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_violations(
        checks,
        '(select ' ~ dbt_delta._all_columns(batch, casts=true) | join(', ') ~ ' from ' ~ batch.from ~ ')',
        'the rows of the batch for ' ~ dbt_delta._named(existing.relation),
    ) -%}
{%- endmacro %}

{# What the columns of the table ask of a row, as far as a session tells, as constraints. #}
{% macro _column_checks(batch) -%}
    {%- set checks = {} -%}
    {%- for column in batch.target_columns -%}
        {%- set name = dbt_delta._quoted(column.name) -%}
        {%- set sized = modules.re.match('(?:var)?char\\(([0-9]+)\\)', column.get('declared') or '') -%}
        {%- if column.get('nullable') is false -%}
            {%- do checks.update({dbt_delta._check_name('not_null', column.name): name ~ ' is not null'}) -%}
        {%- endif -%}
        {%- if sized -%}
            {#- Spark cuts blanks that are too many. -#}
            {%- do checks.update({
                dbt_delta._check_name('length', column.name):
                    name ~ ' is null or length(rtrim(' ~ name ~ ')) <= ' ~ sized.group(1),
            }) -%}
        {%- endif -%}
        {%- if column.get('generation') -%}
            {%- do checks.update({
                dbt_delta._check_name('generated', column.name): name ~ ' <=> (' ~ column.generation ~ ')',
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(checks) -}}
{%- endmacro %}

{# Stops the model, and leaves nothing of its batch behind. #}
{% macro _refuse_batch(batch, text) -%}
    {%- if batch.get('staging') is not none -%}{%- do dbt_delta._drop(batch.staging) -%}{%- endif -%}
    {%- do dbt_delta._refuse(text) -%}
{%- endmacro %}
