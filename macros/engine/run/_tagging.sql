{#
    Runs its block with more values in the tag of its commits; see src/dbt_delta/session/tags.py. Without the plugin a
    model adds nothing: connections share a session, and models would tag the commits of others.
#}
{% macro _tagging(more) -%}
    {%- set key = dbt_delta._in_format('tag_setting')() -%}
    {%- if not more or (adapter.dbt_delta_plugin is not defined and model) -%}
        {%- do caller() -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set known = adapter.dbt_delta_setting(key) if adapter.dbt_delta_setting is defined else none -%}
    {%- set before = run_query('set ' ~ dbt_delta._quoted(key)).rows[0]['value'] if known is none else known -%}
    {%- set tag = fromjson(before, {}) -%}
    {#- Metadata of a user's own does not say whose commit it is; without that nobody reads what is added. -#}
    {%- set tag = dict({
        'dbt_invocation_id': invocation_id, 'dbt_project': project_name,
        'dbt_started_at': run_started_at.strftime('%Y-%m-%dT%H:%M:%SZ'),
    }, **(tag if tag is mapping else {})) -%}
    {%- set text = tojson(dict(tag, **more)) -%}
    {%- if known is not none -%}
        {%- do adapter.dbt_delta_with(dict({key: text}, **dbt_delta._transaction(more)), caller) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- do run_query('set ' ~ dbt_delta._quoted(key) ~ '=' ~ dbt_delta._quoted(text)) -%}
    {%- do caller() -%}
    {%- if before != '<undefined>' -%}
        {%- do run_query('set ' ~ dbt_delta._quoted(key) ~ '=' ~ dbt_delta._quoted(before)) -%}
    {%- else -%}
        {%- do run_query('reset ' ~ dbt_delta._quoted(key)) -%}
    {%- endif -%}
{%- endmacro %}

{# Delta keeps the number of a stream's batch in its commit, and makes none if the table has had it. #}
{% macro _transaction(more) -%}
    {%- set batch = more.get('dbt_stream') -%}
    {{- return({
        'spark.databricks.delta.write.txnAppId': batch.id, 'spark.databricks.delta.write.txnVersion': batch.batch | string,
    } if batch else {}) -}}
{%- endmacro %}
