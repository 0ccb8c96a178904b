{# A relation, or the relation of a name in a run operation; see _relation_named. #}
{% macro _relation_given(relation, macro) -%}
    {{- return(dbt_delta._relation_named(relation, macro) if relation is string else relation) -}}
{%- endmacro %}

{#
    Runs a statement that rewrites files but changes no rows, and logs what its commit did; a dry run only logs the
    statement. A failure is an error.
#}
{% macro _run_upkeep(relation, sql, dry_run) -%}
    {%- set line = sql | replace('\n', ' ') -%}
    {%- if dry_run -%}
        {%- do log(line ~ ' (dry run)', info=true) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set before = dbt_delta._commits(relation, 1)[0].version -%}
    {%- do run_query(sql) -%}
    {%- do log(line ~ ': ' ~ dbt_delta._rewritten(relation, before), info=true) -%}
    {{- return('') -}}
{%- endmacro %}

{# What the commit after a version did: files and bytes before and after. #}
{% macro _rewritten(relation, version) -%}
    {%- set texts = [] -%}
    {%- for commit in dbt_delta._commits(relation, 20)
        if commit.version > version and commit.operation in ('OPTIMIZE', 'REORG') -%}
        {%- for kind in ('Removed', 'Added') -%}
            {%- do texts.append(
                dbt_delta._files(dbt_delta._metric(commit, ['num' ~ kind ~ 'Files']) or 0) ~ ' of '
                ~ dbt_delta._bytes(dbt_delta._metric(commit, ['num' ~ kind ~ 'Bytes']) or 0)
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(texts[:2] | join(' -> ') if texts else 'nothing to do') -}}
{%- endmacro %}

{#
    Takes a step: {done, problem, is_skipped, seconds}. It is skipped after four lost races against other writers, and if
    a reader or another call stands in the way of a VACUUM.
#}
{% macro _take_upkeep(step) -%}
    {%- set began = modules.datetime.datetime.now() -%}
    {%- if step.kind == 'vacuum' -%}
        {%- set table = dbt_delta._table_now(step.table) -%}
        {%- set taken = dbt_delta._vacuum(table, table.floor.hours, 'full', is_put_back=true) -%}
    {%- else -%}
        {%- set taken = dbt_delta._rewrite(step) -%}
    {%- endif -%}
    {{- return(dict(
        taken,
        is_skipped=taken.get('is_blocked', false) or modules.re.search(
            'DELTA_(CONCURRENT_|METADATA_CHANGED|PROTOCOL_CHANGED)', taken.problem
        ) is not none,
        seconds=(modules.datetime.datetime.now() - began).total_seconds(),
    )) -}}
{%- endmacro %}

{# Runs a statement that rewrites files: {done, problem}, one of them an empty text. #}
{% macro _rewrite(step) -%}
    {%- set sizes = {
        'spark.databricks.delta.optimize.minFileSize': step.table.thresholds.small_file_bytes,
        'spark.databricks.delta.optimize.maxFileSize': step.table.thresholds.target_file_bytes,
    } -%}
    {%- for key, value in sizes.items() -%}{%- do run_query('set ' ~ key ~ ' = ' ~ value) -%}{%- endfor -%}
    {%- set problem = dbt_delta._attempt(step.sql).problem -%}
    {%- for key in sizes -%}{%- do run_query('reset ' ~ key) -%}{%- endfor -%}
    {{- return({
        'done': '' if problem else dbt_delta._rewritten(step.table.relation, step.table.state.version), 'problem': problem,
    }) -}}
{%- endmacro %}

{#
    OPTIMIZE of a model with zorder or liquid_clustered_by that was just built, if it has several files. The files of
    incremental runs are left to maintain: checking them in each run would be expensive. A failure is a warning.
#}
{% macro _optimize_built(layout) -%}
    {%- if layout.format != 'delta' or not (layout.clustering or config.get('zorder'))
        or dbt_delta._is_skipped(model) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set commit, thresholds = dbt_delta._commits(this, 1)[0], dbt_delta._thresholds(model) -%}
    {%- set files = dbt_delta._metric(commit, ['numFiles']) or 0 -%}
    {%- set bytes = dbt_delta._metric(commit, ['numOutputBytes']) or 0 -%}
    {%- if files < 2 or (files < thresholds.min_small_files and bytes < thresholds.small_file_bytes) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set table = dbt_delta._read_states([
        dbt_delta._maintained(0, this, dbt_delta._describe(this).location, model)
    ])[0] -%}
    {%- set steps = [] if table.state is none else dbt_delta._rewrites(table) -%}
    {%- for step in steps if step.kind in ('cluster', 'zorder') -%}
        {%- set taken = dbt_delta._take_upkeep(step) -%}
        {%- if taken.problem -%}
            {%- do exceptions.warn('OPTIMIZE of ' ~ dbt_delta._bare(this) ~ ' failed: ' ~ taken.problem) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
