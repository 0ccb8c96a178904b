{#
    Removes the files: {done, problem}, one of them an empty text; `is_blocked` if a reader or another call stands in the
    way. If needed, the table has another retention meanwhile. A property keeps the original one, and whose VACUUM it
    is: a call restores it if this one was killed.
#}
{% macro _vacuum(table, hours, mode, is_put_back=false) -%}
    {%- set untracked = none if table.floor.blocked else dbt_delta._untracked(table, hours) -%}
    {%- set blocked = table.floor.blocked or untracked or dbt_delta._lent_now(table) -%}
    {%- if blocked -%}
        {{- return({'done': '', 'problem': blocked ~ '. Nothing was removed.', 'is_blocked': not untracked}) -}}
    {%- endif -%}
    {%- if not is_put_back -%}{%- do dbt_delta._put_back_retention(table) -%}{%- endif -%}
    {%- set lent = dbt_delta._lent_retention(table, hours) -%}
    {%- if lent -%}{%- do run_query(dbt_delta.get_set_properties_sql(table.relation, lent)) -%}{%- endif -%}
    {%- set sql = 'vacuum ' ~ dbt_delta._named(table.relation) -%}
    {#- By default Spark lists a folder in 10,000 tasks, which takes a minute. -#}
    {%- set parallelism = 'spark.sql.sources.parallelPartitionDiscovery.parallelism' -%}
    {%- set is_default = run_query('set ' ~ parallelism).rows[0][1] == '10000' -%}
    {%- if is_default -%}{%- do run_query('set ' ~ parallelism ~ ' = 16') -%}{%- endif -%}
    {%- set problem = dbt_delta._attempt(sql ~ ' lite').problem if mode == 'lite' else 'DELTA_CANNOT_VACUUM_LITE' -%}
    {%- if 'DELTA_CANNOT_VACUUM_LITE' in problem -%}
        {#- The log no longer has all files that left the table since the last VACUUM. -#}
        {%- set problem = dbt_delta._attempt(sql).problem -%}
    {%- endif -%}
    {%- if is_default -%}{%- do run_query('reset ' ~ parallelism) -%}{%- endif -%}
    {%- if lent -%}
        {%- do dbt_delta._set_back_retention(table, dict(table.state.configuration, **lent)) -%}
    {%- endif -%}
    {%- set removed = namespace(text='done') -%}
    {%- for commit in dbt_delta._commits(table.relation, 5) | reverse if commit.operation == 'VACUUM START' -%}
        {%- set removed.text = dbt_delta._files(dbt_delta._metric(commit, ['numFilesToDelete']) or 0) ~ ' of '
            ~ dbt_delta._bytes(dbt_delta._metric(commit, ['sizeOfDataToDelete']) or 0) ~ ' removed' -%}
    {%- endfor -%}
    {{- return({'done': '' if problem else removed.text, 'problem': problem}) -}}
{%- endmacro %}

{# Restores the retention that a killed VACUUM has changed, if any; see _lent_by_another. #}
{% macro _put_back_retention(table) -%}
    {%- set lent = table.state.configuration.get('dbt_delta.retention') -%}
    {%- if lent and not dbt_delta._lent_by_another(lent, table.state.now) -%}
        {%- do dbt_delta._set_back_retention(table, table.state.configuration) -%}
    {%- endif -%}
{%- endmacro %}

{# Restores a table's own retention after a VACUUM with another one, if that is still the one of this configuration. #}
{% macro _set_back_retention(table, configuration) -%}
    {%- set mark = 'dbt_delta.retention' -%}
    {%- set back = {mark: none} -%}
    {%- if dbt_delta._describe(table.relation).properties.get(mark) != configuration[mark] -%}
        {{- return('') -}}
    {%- endif -%}
    {%- for key, value in dbt_delta._own_retention(configuration).items()
        if value is not none or key in configuration -%}
        {%- do back.update({key: value}) -%}
    {%- endfor -%}
    {%- do dbt_delta._give_properties(table.relation, back) -%}
{%- endmacro %}

{#
    Gives a table properties; a value of none takes one away. If both parts of the retention change, they are first set in
    one statement: Delta refuses a log that is kept shorter than the files.
#}
{% macro _give_properties(relation, wanted) -%}
    {%- set given, default = {}, dbt_delta._retention_properties() -%}
    {%- set both = default.keys() | reject('in', wanted) | list | length == 0 -%}
    {%- for key, value in wanted.items() if value is not none or (both and key in default) -%}
        {%- do given.update({key: default[key] if value is none else value}) -%}
    {%- endfor -%}
    {%- if given -%}{%- do run_query(dbt_delta.get_set_properties_sql(relation, given)) -%}{%- endif -%}
    {%- set away = [] -%}
    {%- for key, value in wanted.items() if value is none -%}
        {%- do away.append(key) -%}
    {%- endfor -%}
    {%- if away -%}{%- do run_query(dbt_delta._unset_properties_sql(relation, away)) -%}{%- endif -%}
{%- endmacro %}
