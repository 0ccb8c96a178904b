{#
    Removes the files that left a table longer ago than anybody needs them; see _floor. Fewer hours
    than that, and than 168, only for tables that the variable dbt_delta_short_retention names. VACUUM
    takes its hours from a property of the table, which is put back afterwards.
#}
{% macro vacuum(relation, retention_hours=none, mode='full', dry_run=false) -%}
    {%- if not execute -%}{{- return('') -}}{%- endif -%}
    {%- set relation = dbt_delta._relation_given(relation, 'vacuum') -%}
    {%- if mode not in ('full', 'lite') -%}
        {%- do dbt_delta._refuse("vacuum has mode '" ~ mode ~ "'. It is one of full, lite.") -%}
    {%- elif retention_hours is not none and (retention_hours is not number or retention_hours < 0) -%}
        {%- do dbt_delta._refuse("vacuum has retention_hours '" ~ retention_hours ~ "'. Give a number of hours.") -%}
    {%- endif -%}
    {%- do dbt_delta._delta_table(relation, 'vacuum') -%}
    {%- set tables = dbt_delta._catalog_tables([], [relation]) -%}
    {%- do dbt_delta._read_states(tables) -%}
    {%- for table in tables if dbt_delta._bare(table.relation) | lower == dbt_delta._bare(relation) | lower -%}
        {%- if table.state is none -%}
            {%- do dbt_delta._refuse('vacuum: the log of ' ~ dbt_delta._named(relation) ~ ' cannot be read.') -%}
        {%- endif -%}
        {%- do table.update({'floor': dbt_delta._floor(table)}) -%}
        {%- set hours = dbt_delta._vacuum_hours(table, retention_hours) -%}
        {%- set line = 'vacuum ' ~ dbt_delta._bare(relation) ~ ', files that left it more than '
            ~ dbt_delta._hours_text(hours) ~ ' ago' -%}
        {%- if dry_run and not table.floor.blocked -%}
            {%- set paths = dbt_delta._removable(table, hours) -%}
            {%- do log(line ~ ' (dry run): ' ~ dbt_delta._files(paths | length), info=true) -%}
            {%- for path in paths -%}{%- do log('  ' ~ path, info=true) -%}{%- endfor -%}
        {%- else -%}
            {%- set taken = dbt_delta._vacuum(table, hours, mode) -%}
            {%- if taken.problem -%}
                {%- do dbt_delta._refuse('vacuum of ' ~ dbt_delta._bare(relation) ~ ': ' ~ taken.problem) -%}
            {%- endif -%}
            {%- do log(line ~ ': ' ~ taken.done, info=true) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return('') -}}
{%- endmacro %}

{# The hours that a VACUUM may have; refuses fewer than somebody needs. #}
{% macro _vacuum_hours(table, wanted) -%}
    {%- set floor, name = table.floor, dbt_delta._bare(table.relation) -%}
    {%- set short = var('dbt_delta_short_retention', []) -%}
    {%- set named = dbt_delta._names(short) | map('lower') | list -%}
    {%- if wanted is none or wanted >= floor.hours -%}
        {{- return([wanted or 0, floor.hours] | max) -}}
    {%- elif wanted < floor.hard_hours -%}
        {%- do dbt_delta._refuse(
            'vacuum of ' ~ name ~ ' with retention_hours ' ~ wanted ~ ' would remove files that are read: '
            ~ floor.hard_why ~ '. Leave at least ' ~ dbt_delta._hours_text(floor.hard_hours) ~ ', or drop that first.'
        ) -%}
    {%- elif name | lower not in named -%}
        {%- do dbt_delta._refuse(
            'vacuum of ' ~ name ~ ' has retention_hours ' ~ wanted ~ ', less than ' ~ dbt_delta._hours_text(floor.hours)
            ~ ' (' ~ floor.why ~ '): versions that undo_run and time travel need would be lost. Leave it out, or name '
            ~ "the table in the variable: --vars '{dbt_delta_short_retention: [" ~ name ~ "]}'."
        ) -%}
    {%- endif -%}
    {{- return(wanted) -}}
{%- endmacro %}

{# Removes the files: {done, problem}, one of them an empty text. #}
{% macro _vacuum(table, hours, mode) -%}
    {%- set blocked = table.floor.blocked or dbt_delta._untracked(table, hours) -%}
    {%- if blocked -%}{{- return({'done': '', 'problem': blocked ~ '. Nothing was removed.'}) -}}{%- endif -%}
    {%- do dbt_delta._put_back_retention(table) -%}
    {%- do dbt_delta._lend_retention(table, hours) -%}
    {%- set sql = 'vacuum ' ~ dbt_delta._named(table.relation) -%}
    {#- Spark's default lists a folder by 10,000 tasks, which takes a minute. -#}
    {%- set parallelism = 'spark.sql.sources.parallelPartitionDiscovery.parallelism' -%}
    {%- set is_default = run_query('set ' ~ parallelism).rows[0][1] == '10000' -%}
    {%- if is_default -%}{%- do run_query('set ' ~ parallelism ~ ' = 16') -%}{%- endif -%}
    {%- set problem = dbt_delta._attempt(sql ~ ' lite').problem if mode == 'lite' else 'DELTA_CANNOT_VACUUM_LITE' -%}
    {%- if 'DELTA_CANNOT_VACUUM_LITE' in problem -%}
        {#- The log no longer has all that left the table since the last VACUUM. -#}
        {%- set problem = dbt_delta._attempt(sql).problem -%}
    {%- endif -%}
    {%- if is_default -%}{%- do run_query('reset ' ~ parallelism) -%}{%- endif -%}
    {%- do dbt_delta._put_back_retention(table) -%}
    {%- set removed = namespace(text='done') -%}
    {%- for commit in dbt_delta._commits(table.relation, 5) | reverse if commit.operation == 'VACUUM START' -%}
        {%- set removed.text = dbt_delta._files(dbt_delta._metric(commit, ['numFilesToDelete']) or 0) ~ ' of '
            ~ dbt_delta._bytes(dbt_delta._metric(commit, ['sizeOfDataToDelete']) or 0) ~ ' removed' -%}
    {%- endfor -%}
    {{- return({'done': '' if problem else removed.text, 'problem': problem}) -}}
{%- endmacro %}

{#
    The files that VACUUM would remove: as Delta lists them where the hours are the table's retention,
    else as the log has them.
#}
{% macro _removable(table, hours) -%}
    {%- if hours == table.floor.property_hours -%}
        {{- return(run_query('vacuum ' ~ dbt_delta._named(table.relation) ~ ' dry run').columns[0].values() | list) -}}
    {%- endif -%}
    {%- set time = table.state.now - hours * 3600000 -%}
    {{- return(run_query(dbt_delta._removable_sql(table, time)).columns[0].values() | list) -}}
{%- endmacro %}

{#
    Whether files of versions within the hours are unknown to Delta: a checkpoint that was written while
    the table's retention was shorter names them no more, and VACUUM would remove them.
#}
{% macro _untracked(table, hours) -%}
    {%- set log = {'parent': dbt_delta._warehouse(table), 'tables': [table]} -%}
    {%- set checkpoints = dbt_delta._checkpoints([log], always=true) -%}
    {%- if not checkpoints -%}{{- return(none) -}}{%- endif -%}
    {%- set found = run_query(
        dbt_delta._untracked_sql(log, checkpoints, table.state.now - hours * 3600000)
    ).rows[0]['files'] | int -%}
    {{- return(none if not found else
        dbt_delta._files(found) ~ ' of versions younger than ' ~ dbt_delta._hours_text(hours)
        ~ ' left its checkpoints, as delta.deletedFileRetentionDuration was shorter then: VACUUM would remove them. '
        ~ 'It can run once those versions are older; set_retention keeps later ones'
    ) -}}
{%- endmacro %}

{% macro _untracked_sql(log, checkpoints, time) -%}
    {%- set lines = ['select *, false as is_checkpoint from (' ~ dbt_delta._log_lines(log) ~ ')'] -%}
    {%- for source in checkpoints -%}
        {%- do lines.append('select *, true as is_checkpoint from (' ~ dbt_delta._checkpoint_lines(source) ~ ')') -%}
    {%- endfor -%}
with lines as (
    select
        is_checkpoint,
        bigint(regexp_extract(file, '/([0-9]{20})[.][^/]*$', 1)) as version,
        from_json(
            value,
            'add struct<path string, deletionVector struct<storageType string, pathOrInlineDv string>>,
            remove struct<path string, deletionTimestamp bigint,
                deletionVector struct<storageType string, pathOrInlineDv string>>'
        ) as line
    from (
        {{ lines | join('\n        union all\n        ') }}
    )
    where file rlike '/[0-9]{20}([.]json|[.]checkpoint[.].*)$'
),
paths as (
    select
        path,
        max(line.remove.deletionTimestamp) as deleted_at,
        bool_or(is_checkpoint or version > checkpoint.newest) as is_tracked
    from lines
    cross join (select max(version) as newest from lines where is_checkpoint) as checkpoint
    lateral view explode(array(coalesce(line.add.deletionVector, line.remove.deletionVector))) two as vector
    -- A deletion vector may leave a file that stays.
    lateral view explode(array(
        coalesce(line.add.path, line.remove.path),
        if(vector.storageType = 'u', vector.pathOrInlineDv, null)
    )) one as path
    group by 1
)
select count(*) as files from paths where path is not null and deleted_at >= {{ time | int }} and not is_tracked
{%- endmacro %}

{#
    Gives a table another retention for the time of a VACUUM. What it was is kept in a property of its
    own, by which the next call puts it back if this one is killed.
#}
{% macro _lend_retention(table, hours) -%}
    {%- if hours == table.floor.property_hours -%}{{- return('') -}}{%- endif -%}
    {%- set now, defaults = {}, dbt_delta._retention_properties() -%}
    {%- for key in defaults -%}{%- do now.update({key: table.state.configuration.get(key)}) -%}{%- endfor -%}
    {%- set interval = 'interval ' ~ (hours * 3600) | round(0, 'ceil') | int ~ ' seconds' -%}
    {%- set lent = {'delta.deletedFileRetentionDuration': interval, 'dbt_delta.retention': tojson(now)} -%}
    {%- if dbt_delta._hours(now['delta.logRetentionDuration'] or defaults['delta.logRetentionDuration']) < hours -%}
        {%- do lent.update({'delta.logRetentionDuration': interval}) -%}
    {%- endif -%}
    {%- do run_query(dbt_delta.get_set_properties_sql(table.relation, lent)) -%}
    {%- do table.state.configuration.update(lent) -%}
{%- endmacro %}

{% macro _put_back_retention(table) -%}
    {%- set configuration, lent = table.state.configuration, table.state.configuration.get('dbt_delta.retention') -%}
    {%- if not lent -%}{{- return('') -}}{%- endif -%}
    {%- set back, unset = {}, ['dbt_delta.retention'] -%}
    {%- for key, value in fromjson(lent).items() -%}
        {%- if value is not none -%}{%- do back.update({key: value}) -%}
        {%- elif key in configuration -%}{%- do unset.append(key) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if back -%}{%- do run_query(dbt_delta.get_set_properties_sql(table.relation, back)) -%}{%- endif -%}
    {%- set names = [] -%}
    {%- for key in unset -%}
        {%- do names.append(dbt_delta._literal(key)) -%}
        {%- do configuration.pop(key, none) -%}
    {%- endfor -%}
    {%- do run_query(
        'alter table ' ~ dbt_delta._named(table.relation) ~ ' unset tblproperties if exists (' ~ names | join(', ') ~ ')'
    ) -%}
    {%- do configuration.update(back) -%}
{%- endmacro %}
