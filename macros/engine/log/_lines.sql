{# The lines of logs, and their tables with the limit of a small file: the CTEs `logs` and `tables`. #}
{% macro _logs_sql(logs, checkpoints=[], limits=false, since=none) -%}
    {%- set lines, known = [], [] -%}
    {%- for log in logs -%}
        {%- do lines.append(dbt_delta._log_lines(log, since)) -%}
        {%- for table in log.tables -%}
            {%- set values = [table.id, dbt_delta._literal(table.location)] -%}
            {%- if limits -%}
                {%- do values.extend([table.thresholds.small_file_bytes, dbt_delta._literal(tojson(table.zorder))]) -%}
            {%- endif -%}
            {%- do known.append('(' ~ values | join(', ') ~ ')') -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for source in checkpoints -%}{%- do lines.append(dbt_delta._checkpoint_lines(source)) -%}{%- endfor -%}
with logs as (
    {{ lines | join('\n    union all\n    ') }}
),
tables (id, location{{ ', small, zorder' if limits }}) as (
    values {{ known | join(', ') }}
)
{%- endmacro %}

{% macro _logs_of_tables() -%}
from logs
    inner join tables
        on {{ dbt_delta._plain_path("regexp_extract(logs.file, '^(.*)/_delta_log/', 1)") }} = tables.location
{%- endmacro %}

{# The version of a file of a log. #}
{% macro _file_version(path) -%}
bigint(regexp_extract({{ path }}, '/([0-9]{20})[.][^/]*$', 1))
{%- endmacro %}

{# Whether a file is a commit or a checkpoint. #}
{% macro _is_log_file(path) -%}
{{ path }} rlike '/[0-9]{20}([.]json|[.]checkpoint[.].*)$'
{%- endmacro %}

{# The lines of logs, each with the path of its file; of files from a time on, in milliseconds, Spark opens no other. #}
{% macro _log_lines(log, since=none) -%}
    {{- return(
        'select _metadata.file_path as file, value from text.' ~ dbt_delta._log_files(log, '*.json')
        ~ ('' if since is none else ' where _metadata.file_modification_time >= timestamp_millis(' ~ since ~ 'L)')
    ) -}}
{%- endmacro %}
