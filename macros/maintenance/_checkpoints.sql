{#
    What of logs that no longer begin with version 0 the newest checkpoints hold, {from, file}: texts
    for FROM and for the path of the checkpoint. One of Delta's second format names the files, in a folder
    beside it, that hold the rest.
#}
{% macro _checkpoints(logs, always=false) -%}
    {%- set listings = [] -%}
    {%- for log in logs -%}
        {%- do listings.append('select path from binaryFile.' ~ dbt_delta._log_files(
            log, '{00000000000000000000.json,*.checkpoint.*}'
        )) -%}
    {%- endfor -%}
    {%- set paths = run_query(listings | join('\nunion all\n')).columns[0].values() -%}
    {%- set sources = [] -%}
    {%- for log in logs -%}
        {%- set files = [] -%}
        {%- for table in log.tables -%}
            {%- set names = [] -%}
            {%- for path in paths if path.startswith(table.location ~ '/_delta_log/') -%}
                {%- do names.append(path.rpartition('/')[2]) -%}
            {%- endfor -%}
            {%- set folder = dbt_delta._log_folder(log, table) -%}
            {%- for name in dbt_delta._newest_checkpoint(names, always) -%}
                {%- set path = dbt_delta._plain_glob(folder ~ name) -%}
                {#- One of JSON is read with the other lines of the log. -#}
                {%- if name.endswith('.parquet') -%}{%- do files.append(path) -%}{%- endif -%}
                {%- if name.count('.') == 3 -%}
                    {%- set parts = [] -%}
                    {%- set listed = dbt_delta._sidecars_sql(dbt_delta._any_path(log.parent, [path]), name) -%}
                    {%- for row in run_query(listed).rows -%}
                        {%- do parts.append(dbt_delta._plain_glob(folder ~ '_sidecars/' ~ row['name'])) -%}
                    {%- endfor -%}
                    {%- if parts -%}
                        {%- do sources.append({
                            'from': 'parquet.' ~ dbt_delta._any_path(log.parent, parts),
                            'file': dbt_delta._literal(table.location ~ '/_delta_log/' ~ name),
                        }) -%}
                    {%- endif -%}
                {%- endif -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- if files -%}
            {%- do sources.append({
                'from': 'parquet.' ~ dbt_delta._any_path(log.parent, files), 'file': '_metadata.file_path',
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(sources) -}}
{%- endmacro %}

{# The names of the files that hold the rest of a checkpoint of Delta's second format. #}
{% macro _sidecars_sql(path, name) -%}
    {%- if name.endswith('.parquet') -%}
        {{- return('select sidecar.path as name from parquet.' ~ path ~ ' where sidecar is not null') -}}
    {%- endif -%}
    {%- set sidecar = "get_json_object(value, '$.sidecar.path')" -%}
    {{- return('select ' ~ sidecar ~ ' as name from text.' ~ path ~ ' where ' ~ sidecar ~ ' is not null') -}}
{%- endmacro %}

{#
    The files of the newest whole checkpoint: `n.checkpoint.parquet`, all parts of `n.checkpoint.1.3.parquet`,
    or `n.checkpoint.<id>.parquet` or `.json`; none where the log has version 0, unless always.
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

{# Each row of a checkpoint as the line of a log that says the same. #}
{% macro _checkpoint_lines(source) -%}
    {%- set columns = dbt_delta._columns_of('select * from ' ~ source.from) -%}
    {%- set wanted = {
        'add': ['path', 'partitionValues', 'size', 'modificationTime', 'stats', 'deletionVector', 'clusteringProvider'],
        'remove': ['path', 'deletionTimestamp', 'size', 'deletionVector'],
        'metaData': ['schemaString', 'partitionColumns', 'configuration'],
        'domainMetadata': ['domain', 'configuration', 'removed'],
    } -%}
    {%- set actions = [] -%}
    {%- for column in columns if column.name in wanted -%}
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
