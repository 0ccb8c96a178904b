{# Whether the SELECT is read more than once: the check before the write reads it, and MERGE two or three times. #}
{% macro _reads_batch_twice(table, settings) -%}
    {{- return(
        dbt_delta._checks_batch(settings)
        or dbt_delta._in_format('looks_first')()
        or settings.strategy in ('merge', 'delete+insert')
        or (settings.strategy == 'insert_overwrite' and table.clustering | length > 0)
    ) -}}
{%- endmacro %}

{# Whether the SELECT reads a table of its result: that of a Python model, or of rows that were judged. #}
{% macro _is_fixed(settings) -%}
    {{- return(model.language == 'python' or settings.get('is_fixed') is true) -}}
{%- endmacro %}

{% macro _is_staged(table, sql, settings) -%}
    {%- if dbt_delta._is_fixed(settings) -%}{{- return(false) -}}{%- endif -%}
    {#- Delta does not look whether the rows of this write belong where it replaces others. -#}
    {%- if dbt_delta._replaces_by_subquery(settings) -%}{{- return(true) -}}{%- endif -%}
    {%- if settings.stage != 'auto' -%}{{- return(settings.stage == 'table') -}}{%- endif -%}
    {{- return(
        dbt_delta._reads_batch_twice(table, settings) and dbt_delta._is_expensive(sql, model.depends_on.nodes)
    ) -}}
{%- endmacro %}

{#
    Whether a SELECT does more than scan, filter and project: evaluating it again then costs more than storing its
    result. Looks into the views that the model reads. A SELECT that returns another result each time counts as
    expensive, too: all steps must see the same batch. What a function of the catalog, a.f(..), returns is not known.
#}
{% macro _is_expensive(sql, upstream=[]) -%}
    {%- set work = '\\b(join|group\\s+by|distinct|over|union(?!\\s+all\\b)|intersect|except(?!\\s*\\()|having|lateral'
        ~ '|explode\\w*|posexplode\\w*|inline|stack|rand|random|randn|randstr|uniform|uuid|shuffle|tablesample'
        ~ '|limit|offset|monotonically_increasing_id|current_(date|time|timestamp)|curdate|now|localtimestamp|unix_timestamp'
        ~ '|(try_)?reflect|java_method|regexp\\w*|rlike|from_json|from_csv|sha\\d*|md5)\\b'
        ~ '|\\b(first|last|first_value|last_value|any_value|mode|collect_\\w+|array_agg|listagg|string_agg|approx_\\w+'
        ~ '|percentile_approx|histogram_numeric|function)\\s*\\('
        ~ '|\\.\\s*\\w*\\s*\\(' -%}
    {#- A quoted name is a word: that of a function, if a bracket follows, else any. -#}
    {%- set quoted = '`(?:[^`]|``)*`' -%}
    {%- set text = modules.re.sub('(?s)(' ~ quoted ~ ')|' ~ dbt_delta._opaque_tokens(), ' \\1 ', sql) -%}
    {%- set text = modules.re.sub('`(\\w+)`(?=\\s*\\()', '\\1', text) -%}
    {%- set text = modules.re.sub('(?s)' ~ quoted, 'x', text) -%}
    {%- set special = '\\b(date|timestamp(_[ln]tz)?)\\s*[\'"]\\s*(now|today|tomorrow|yesterday)\\b' -%}
    {%- if modules.re.search('(?i)' ~ work, text) or modules.re.search('(?i)' ~ special, sql) -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- for id in upstream -%}
        {%- set node = graph.nodes.get(id) -%}
        {%- if node and node.config.materialized == 'view'
            and dbt_delta._is_expensive(node.raw_code, node.depends_on.nodes) -%}
            {{- return(true) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# The batch as a table that is read a few times and dropped. #}
{% macro get_create_staging_sql(name, sql) -%}
create table {{ name }} {{ dbt_delta._in_format('staging_clause')() }}
as
{{ sql }}
{%- endmacro %}

{# A column without a type cannot be stored; it holds only NULLs. #}
{% macro get_staged_columns_sql(from, columns) -%}
    {%- set texts = [] -%}
    {%- for column in columns -%}
        {%- set name = dbt_delta._quoted(column.name) -%}
        {%- set value = dbt_delta._uncarried(column, dbt_delta._stored_type(column.type)) -%}
        {%- do texts.append(value if value == name else value ~ ' as ' ~ name) -%}
    {%- endfor -%}
select {{ texts | join(', ') }} from {{ from }} as batch
{%- endmacro %}
