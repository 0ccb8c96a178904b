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
