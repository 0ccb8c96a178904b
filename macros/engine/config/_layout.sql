{#
    What the model's configuration promises of its table: {format, partitions, clustering, buckets,
    location, comment, column_comments, properties, defaults, expectations, checks, follows_checks, options,
    tag}. Contradictions are errors. A comment is none if persist_docs does not ask for it.
#}
{% macro _layout(relation) -%}
    {%- set partitions = dbt_delta._names(config.get('partition_by')) -%}
    {%- set clustering = dbt_delta._names(config.get('liquid_clustered_by')) -%}
    {%- if partitions and clustering -%}
        {%- do dbt_delta._refuse(
            'partition_by ' ~ partitions ~ ' and liquid_clustered_by ' ~ clustering
            ~ ' exclude each other: a Delta table cannot have both. Remove one.'
        ) -%}
    {%- elif clustering | length > 4 -%}
        {%- do dbt_delta._refuse(
            'liquid_clustered_by has ' ~ clustering | length ~ ' columns ' ~ clustering
            ~ '; Delta clusters by at most four. Keep those that most queries filter by.'
        ) -%}
    {%- elif clustering and config.get('zorder') -%}
        {%- do dbt_delta._refuse(
            'zorder ' ~ config.get('zorder') ~ ' and liquid_clustered_by ' ~ clustering
            ~ ' exclude each other. Remove one.'
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._in_format('check_layout')() -%}
    {%- set format, expectations = dbt_delta._format(), dbt_delta._expectations(model) -%}
    {%- set checks = dbt_delta._checks(expectations) -%}
    {%- if checks and format != dbt_delta._target_format() -%}
        {%- do exceptions.warn(
            'Constraints ' ~ checks.keys() | join(', ') ~ ' of ' ~ relation.identifier
            ~ ' are not enforced: file_format ' ~ format ~ ' has no constraints. Use delta.'
        ) -%}
    {%- endif -%}
    {{- return(dict(
        dbt_delta._docs(),
        format=format,
        partitions=partitions,
        clustering=clustering,
        buckets=dbt_delta._buckets(format),
        location=dbt_delta._location(relation),
        properties=dict(dbt_delta._properties(format), **dbt_delta._publish_properties(format)),
        defaults={},
        expectations=expectations,
        checks=checks if format == dbt_delta._target_format() else {},
        follows_checks=dbt_delta._has_constraints(),
        options=config.get('options') or {},
        tag={},
    )) -}}
{%- endmacro %}

{% macro _format() -%}
    {{- return((config.get('file_format') or dbt_delta._target_format()) | lower) -}}
{%- endmacro %}

{% macro _buckets(format) -%}
    {%- set columns, count = dbt_delta._names(config.get('clustered_by')), config.get('buckets') -%}
    {%- if columns and format == dbt_delta._target_format() -%}
        {%- do dbt_delta._refuse('clustered_by ' ~ columns ~ dbt_delta._in_format('buckets_instead')()) -%}
    {%- elif columns and not count -%}
        {%- do dbt_delta._refuse('clustered_by ' ~ columns ~ ' needs buckets, the number of buckets.') -%}
    {%- endif -%}
    {{- return({'columns': columns, 'count': count}) -}}
{%- endmacro %}

{% macro _location(relation) -%}
    {%- set root = config.get('location_root') -%}
    {%- if not root -%}{{- return(none) -}}{%- endif -%}
    {%- set full = dbt_delta._flag('include_full_name_in_path') -%}
    {{- return(
        root.rstrip('/') ~ ('/' ~ relation.schema if full else '') ~ '/' ~ relation.identifier
    ) -}}
{%- endmacro %}

{#
    The layout with the spelling of the columns: CREATE TABLE AS finds partition and clustering columns only by their
    exact names.
#}
{% macro _name_layout(layout, columns) -%}
    {%- set named = {} -%}
    {%- for config_name, part in {'partition_by': 'partitions', 'liquid_clustered_by': 'clustering'}.items() -%}
        {%- set names = [] -%}
        {%- for name in layout[part] -%}
            {%- set found = dbt_delta._in_format('exact_partition')(columns, name) if part == 'partitions'
                else dbt_delta._exact_path(columns, name.split('.')) -%}
            {%- if found is none -%}
                {%- do dbt_delta._refuse_missing(config_name, name, columns, 'the model') -%}
            {%- endif -%}
            {%- do names.append(found) -%}
        {%- endfor -%}
        {%- do named.update({part: names}) -%}
    {%- endfor -%}
    {{- return(dict(layout, columns=columns, **named)) -}}
{%- endmacro %}

{# The name of a column, or the path of a field, in the spelling of the columns; none if it does not exist. #}
{% macro _exact_path(columns, path) -%}
    {%- set steps = [path] if path is string else path -%}
    {%- set column = dbt_delta._column(columns, steps[0]) -%}
    {%- if column is none or steps | length == 1 -%}{{- return(column.name if column else none) -}}{%- endif -%}
    {%- if dbt_delta._type_kind(column.type) != 'struct' -%}{{- return(none) -}}{%- endif -%}
    {%- set rest = dbt_delta._exact_path(dbt_delta._struct_fields(column.type), steps[1:]) -%}
    {{- return(column.name ~ '.' ~ rest if rest else none) -}}
{%- endmacro %}
