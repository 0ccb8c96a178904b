{#
    Runs its block with more values in the tag of its commits; see src/dbt_delta/session/tags.py. Without the plugin a
    model adds nothing: connections share a session, and models would tag the commits of others.
#}
{% macro _tagging(more) -%}
    {%- set key = 'spark.databricks.delta.commitInfo.userMetadata' -%}
    {%- if not more or (adapter.dbt_delta_plugin is not defined and model) -%}
        {%- do caller() -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set before = run_query('set ' ~ key).rows[0]['value'] -%}
    {%- set tag = fromjson(before, {}) -%}
    {%- set tag = tag if tag is mapping else {} -%}
    {%- set tag = tag or {
        'dbt_invocation_id': invocation_id, 'dbt_project': project_name,
        'dbt_started_at': run_started_at.strftime('%Y-%m-%dT%H:%M:%SZ'),
    } -%}
    {%- do run_query('set ' ~ dbt_delta._quoted(key) ~ '=' ~ dbt_delta._quoted(tojson(dict(tag, **more)))) -%}
    {%- do caller() -%}
    {%- if before.startswith('{') -%}
        {%- do run_query('set ' ~ dbt_delta._quoted(key) ~ '=' ~ dbt_delta._quoted(before)) -%}
    {%- else -%}
        {%- do run_query('reset ' ~ dbt_delta._quoted(key)) -%}
    {%- endif -%}
{%- endmacro %}
