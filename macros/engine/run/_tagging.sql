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
    {%- set before = run_query('set ' ~ dbt_delta._quoted(key)).rows[0]['value'] -%}
    {%- set tag = fromjson(before, {}) -%}
    {#- Metadata of a user's own does not say whose commit it is; without that nobody reads what is added. -#}
    {%- set tag = dict({
        'dbt_invocation_id': invocation_id, 'dbt_project': project_name,
        'dbt_started_at': run_started_at.strftime('%Y-%m-%dT%H:%M:%SZ'),
    }, **(tag if tag is mapping else {})) -%}
    {%- do run_query('set ' ~ dbt_delta._quoted(key) ~ '=' ~ dbt_delta._quoted(tojson(dict(tag, **more)))) -%}
    {%- set written = more.get('dbt_stream') -%}
    {%- if written -%}
        {#- Delta keeps both in the commit, and makes none if it has had them. -#}
        {%- do run_query('set spark.databricks.delta.write.txnAppId=' ~ written.id) -%}
        {%- do run_query('set spark.databricks.delta.write.txnVersion=' ~ written.batch) -%}
    {%- endif -%}
    {%- do caller() -%}
    {%- if written -%}
        {%- do run_query('reset spark.databricks.delta.write.txnAppId') -%}
        {%- do run_query('reset spark.databricks.delta.write.txnVersion') -%}
    {%- endif -%}
    {%- if before != '<undefined>' -%}
        {%- do run_query('set ' ~ dbt_delta._quoted(key) ~ '=' ~ dbt_delta._quoted(before)) -%}
    {%- else -%}
        {%- do run_query('reset ' ~ dbt_delta._quoted(key)) -%}
    {%- endif -%}
{%- endmacro %}
