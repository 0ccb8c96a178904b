{#
    A Delta table as a stream, for any FROM of a model that is materialized as stream: only the rows that were appended
    since the model's last run (see _stream__macros.yml).
#}
{% macro stream(
    relation, starting_version=none, starting_timestamp=none, max_files_per_trigger=none, max_bytes_per_trigger=none,
    ignore_deletes=false, skip_change_commits=false
) -%}
    {%- if execute and model.resource_type == 'unit_test' -%}
        {#- The rows that the test gives. -#}
        {{- return(relation) -}}
    {%- endif -%}
    {%- do dbt_delta._check_reads_stream('stream') if execute -%}
    {%- if starting_version is not none and starting_timestamp is not none -%}
        {%- do dbt_delta._refuse('dbt_delta.stream takes one of starting_version and starting_timestamp.') -%}
    {%- elif execute and relation.is_cte -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.stream: ' ~ relation.identifier ~ ' is ephemeral. Only a Delta table can be read as a stream.'
        ) -%}
    {%- endif -%}
    {%- set options = {} -%}
    {%- for key, value in {
        'startingVersion': starting_version, 'startingTimestamp': starting_timestamp,
        'maxFilesPerTrigger': max_files_per_trigger, 'maxBytesPerTrigger': max_bytes_per_trigger,
        'ignoreDeletes': ignore_deletes or none, 'skipChangeCommits': skip_change_commits or none,
    }.items() if value is not none -%}
        {%- do options.update({key: value}) -%}
    {%- endfor -%}
    {{- return(
        'stream ' ~ dbt_delta._named(relation) ~ (' with ' ~ dbt_delta._literal_pairs(options) if options else '')
    ) -}}
{%- endmacro %}
