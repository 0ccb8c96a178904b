{#
    Kafka, or another source of streams that Spark has, for any FROM of a model that is materialized as stream (see
    _stream__macros.yml). Its options stand in no SQL: the source is a temporary view of the session.
#}
{% macro stream_from(format, options={}) -%}
    {%- if not execute -%}{{- return('(select 1)') -}}{%- endif -%}
    {%- if model.resource_type == 'unit_test' -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.stream_from: a unit test gives rows for ref() and source() only. Keep what is to be tested in a '
            ~ 'model that reads the table of this stream.'
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._check_reads_stream('stream_from') -%}
    {%- if format | lower in ('csv', 'json', 'parquet', 'orc', 'text', 'avro', 'xml', 'binaryfile') -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.stream_from: Spark leaves out files of ' ~ format ~ ' that come under an old name or with an old '
            ~ 'time. Land them with landed_files in an incremental model, and stream its table.'
        ) -%}
    {%- elif format | lower == 'delta' -%}
        {%- do dbt_delta._refuse('dbt_delta.stream_from: read a Delta table with dbt_delta.stream(ref(..) or source(..)).') -%}
    {%- elif options is not mapping -%}
        {%- do dbt_delta._refuse('dbt_delta.stream_from: options must be a mapping. Got: ' ~ options) -%}
    {%- elif adapter.dbt_delta_stream_source is not defined or not dbt_delta._is_session() -%}
        {%- do dbt_delta._refuse('dbt_delta.stream_from needs the embedded session: a server takes SQL only.') -%}
    {%- endif -%}
    {{- return(adapter.dbt_delta_stream_source(format, options)) -}}
{%- endmacro %}

{# Refuses a stream in a model that is none. #}
{% macro _check_reads_stream(macro) -%}
    {%- if model.config.materialized != 'stream' -%}
        {%- do dbt_delta._refuse(
            'dbt_delta.' ~ macro ~ ': ' ~ model.name ~ ' is materialized as ' ~ model.config.materialized
            ~ '. Only a model with materialized: stream can read a stream.'
        ) -%}
    {%- endif -%}
{%- endmacro %}
