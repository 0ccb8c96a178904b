{# A boolean config; in YAML and Jinja it may be a text. #}
{% macro _flag(name, default=false) -%}
    {%- set value = config.get(name) -%}
    {%- if value is none -%}{{- return(default) -}}{%- endif -%}
    {{- return(dbt_delta._is_true(value)) -}}
{%- endmacro %}

{% macro _is_true(value) -%}
    {{- return((value | string | lower) in ('true', '1', 'yes', 'on')) -}}
{%- endmacro %}

{# The window of `--sample`, {start, end} in UTC; none without --sample. #}
{% macro _sample() -%}
    {{- return(invocation_args_dict.get('sample') if invocation_args_dict is defined else none) -}}
{%- endmacro %}

{# Configs that only Databricks supports: an error if data would be exposed, otherwise one warning per run. #}
{% macro _validate_platform() -%}
    {%- do dbt_delta._in_format('check_target')() -%}
    {%- if config.get('row_filter') -%}
        {%- do dbt_delta._refuse(
            'row_filter needs Databricks: open-source Spark would show every row to everybody. '
            ~ 'Remove it, and give access to a view that filters the rows instead of the table.'
        ) -%}
    {%- endif -%}
    {%- for column in model.columns.values()
        if column.get('column_mask') or column.get('config', {}).get('column_mask') -%}
        {%- do dbt_delta._refuse(
            'column_mask of column ' ~ column.name ~ ' needs Databricks: open-source Spark would show the '
            ~ 'values to everybody. Remove it, and give access to a view that masks them instead of the table.'
        ) -%}
    {%- endfor -%}
    {%- if config.get('database') and config.get('database') not in (this.schema, 'spark_catalog') -%}
        {%- do dbt_delta._refuse(
            "database is '" ~ config.get('database') ~ "': Spark's Hive catalog has only schemas. "
            ~ 'Remove database (or catalog), and put its name into the name of the schema.'
        ) -%}
    {%- endif -%}
    {%- if config.get('grants') -%}
        {%- do dbt_delta._refuse(
            'grants needs a catalog with permissions; Spark with a Hive metastore refuses GRANT. '
            ~ 'Remove grants, and control access to the storage instead.'
        ) -%}
    {%- endif -%}
    {%- for name in [
        'databricks_tags', 'query_tags', 'databricks_compute', 'auto_liquid_cluster', 'cluster_id',
        'http_path', 'job_cluster_config', 'unique_tmp_table_suffix', 'use_safer_relation_operations',
    ] if config.get(name) -%}
        {%- do dbt_delta._warn_of_config(name) -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _warn_of_config(name, key=none, of='Databricks') -%}
    {%- set warned = dbt_delta._memory('warnings') -%}
    {%- set what = name if key is none else name ~ ' ' ~ key -%}
    {%- if what not in warned -%}
        {%- do warned.update({what: true}) -%}
        {%- set models = [] -%}
        {%- for id in selected_resources -%}
            {%- set value = graph.nodes.get(id, {}).get('config', {}).get(name) -%}
            {%- if value and (key is none or key in value) -%}
                {%- do models.append(graph.nodes[id].name) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- do exceptions.warn(
            what ~ ' is for ' ~ of ~ ' and has no effect here. Models: ' ~ models | sort | join(', ')
        ) -%}
    {%- endif -%}
{%- endmacro %}
