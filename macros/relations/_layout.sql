{#
    What the model's configuration promises of its table: {partitions, clustering, location,
    comment, column_comments, properties, defaults, checks, options}. Contradictions are errors.
#}
{% macro _layout(relation) -%}
    {%- set partitions = dbt_delta._names(config.get('partition_by')) -%}
    {%- set clustering = dbt_delta._names(config.get('liquid_clustered_by')) -%}
    {%- if partitions and clustering -%}
        {%- do dbt_delta._refuse(
            'partition_by ' ~ partitions ~ ' and liquid_clustered_by ' ~ clustering
            ~ ' exclude each other: a Delta table has one of the two. Remove one.'
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
    {%- set docs = config.get('persist_docs') or {} -%}
    {%- if docs is not mapping -%}
        {%- do dbt_delta._refuse(
            "persist_docs is " ~ docs ~ "; it takes a mapping such as {relation: true, columns: true}."
        ) -%}
    {%- endif -%}
    {%- set comments = {} -%}
    {%- for column in (model.columns.values() if docs.get('columns') else []) if column.description -%}
        {%- do comments.update({column.name: column.description | trim}) -%}
    {%- endfor -%}
    {{- return({
        'partitions': partitions,
        'clustering': clustering,
        'location': dbt_delta._location(relation),
        'comment': (model.description | trim) if docs.get('relation') else '',
        'column_comments': comments,
        'properties': config.get('tblproperties') or {},
        'defaults': {},
        'checks': dbt_delta._checks(),
        'options': config.get('options') or {},
    }) -}}
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
    CHECK and NOT NULL constraints of an enforced contract as name: expression. Delta takes them in
    the statement that creates the table, so that a violating build leaves nothing behind; ALTER
    TABLE .. SET NOT NULL it refuses always.
#}
{% macro _checks() -%}
    {%- set checks = {} -%}
    {%- if not config.get('contract', {}).enforced -%}{{- return(checks) -}}{%- endif -%}
    {%- for column in model.columns.values() -%}
        {%- for constraint in column.constraints -%}
            {%- do dbt_delta._add_check(checks, constraint, [column.name]) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for constraint in model.constraints -%}
        {%- do dbt_delta._add_check(checks, constraint, constraint.columns) -%}
    {%- endfor -%}
    {{- return(checks) -}}
{%- endmacro %}

{% macro _add_check(checks, constraint, columns) -%}
    {%- if constraint.type == 'not_null' -%}
        {%- for column in columns -%}
            {%- do checks.update({
                constraint.name or ('not_null_' ~ local_md5(column | lower)[:10]):
                    dbt_delta._quoted(column) ~ ' is not null'
            }) -%}
        {%- endfor -%}
    {%- elif constraint.type == 'check' -%}
        {%- do checks.update({
            constraint.name or ('check_' ~ local_md5(constraint.expression)[:10]): constraint.expression
        }) -%}
    {%- endif -%}
{%- endmacro %}

{# A boolean config, which YAML and Jinja may give as text too. #}
{% macro _flag(name, default=false) -%}
    {%- set value = config.get(name) -%}
    {%- if value is none -%}{{- return(default) -}}{%- endif -%}
    {{- return((value | string | lower) in ('true', '1', 'yes', 'on')) -}}
{%- endmacro %}

{# Stops the model before anything is written. #}
{% macro _refuse(text) -%}
    {%- do exceptions.raise_compiler_error(text) -%}
{%- endmacro %}
