{#
    The files of the newest complete checkpoint: `n.checkpoint.parquet`, all parts of `n.checkpoint.1.3.parquet`, or
    `n.checkpoint.<id>.parquet` or `.json`. None if the log has version 0, unless `always`.
#}
{% macro _newest_checkpoint(names, always) -%}
    {%- set newest = namespace(version='', files=[]) -%}
    {%- if always or '00000000000000000000.json' not in names -%}
        {%- for name in names | sort if '.checkpoint.' in name -%}
            {%- set steps = name.split('.') -%}
            {%- set files = [name] -%}
            {%- if steps | length == 5 -%}
                {%- set files = [] -%}
                {%- for other in names if other.startswith(steps[0]) and other.endswith('.' ~ steps[3] ~ '.parquet') -%}
                    {%- do files.append(other) -%}
                {%- endfor -%}
            {%- endif -%}
            {%- if steps[0] > newest.version and (steps | length < 5 or files | length == steps[3] | int) -%}
                {%- set newest.version, newest.files = steps[0], files -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(newest.files) -}}
{%- endmacro %}

{# The names of the files with the rest of a checkpoint of Delta's second format. #}
{% macro _sidecars_sql(path, name) -%}
    {%- if name.endswith('.parquet') -%}
        {{- return('select sidecar.path as name from parquet.' ~ path ~ ' where sidecar is not null') -}}
    {%- endif -%}
    {%- set sidecar = "get_json_object(value, '$.sidecar.path')" -%}
    {{- return('select ' ~ sidecar ~ ' as name from text.' ~ path ~ ' where ' ~ sidecar ~ ' is not null') -}}
{%- endmacro %}

{# Each row of a checkpoint as the same line of a log. #}
{% macro _checkpoint_lines(source) -%}
    {%- set wanted = {
        'add': ['path', 'partitionValues', 'size', 'modificationTime', 'stats', 'deletionVector', 'clusteringProvider'],
        'remove': ['path', 'deletionTimestamp', 'size', 'deletionVector'],
        'metaData': ['schemaString', 'partitionColumns', 'configuration'],
        'domainMetadata': ['domain', 'configuration', 'removed'],
    } -%}
    {%- set actions = [] -%}
    {%- for column in source['columns'] if column.name in wanted -%}
        {%- set fields = [] -%}
        {%- for field in dbt_delta._struct_fields(column.type) if field.name in wanted[column.name] -%}
            {%- do fields.append(column.name ~ '.' ~ field.name) -%}
        {%- endfor -%}
        {%- do actions.append('struct(' ~ fields | join(', ') ~ ') as ' ~ column.name) -%}
    {%- endfor -%}
    {{- return(
        'select ' ~ source.file ~ ' as file, to_json(struct(' ~ actions | join(', ') ~ ')) as value from ' ~ source.from
    ) -}}
{%- endmacro %}
