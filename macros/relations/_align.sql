{#
    Statements that bring an existing table to what the configuration promises: properties,
    clustering, comments. None when it is there already.
#}
{% macro get_align_sql(existing, layout) -%}
    {%- set table = 'alter table ' ~ dbt_delta._named(existing.relation) -%}
    {%- set statements = [] -%}
    {%- set properties = {} -%}
    {%- for key, value in layout.properties.items() -%}
        {%- if not dbt_delta._has_property(existing.properties, key, value) -%}
            {%- do properties.update({key: value}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if properties -%}
        {%- do statements.append(
            table ~ ' set tblproperties ' ~ dbt_delta._literal_pairs(properties)
        ) -%}
    {%- endif -%}
    {%- if layout.clustering | map('lower') | list != existing.clustering | map('lower') | list
        and not existing.partitions -%}
        {%- do statements.append(
            table ~ ' cluster by '
            ~ ('(' ~ dbt_delta._quoted_paths(layout.clustering) ~ ')' if layout.clustering else 'none')
        ) -%}
    {%- endif -%}
    {{- return(statements + dbt_delta.get_comment_sql(existing, layout)) -}}
{%- endmacro %}

{% macro get_comment_sql(existing, layout) -%}
    {%- set statements = [] -%}
    {%- if layout.comment and layout.comment != existing.comment -%}
        {%- do statements.append(
            'comment on table ' ~ dbt_delta._named(existing.relation)
            ~ ' is ' ~ dbt_delta._literal(layout.comment)
        ) -%}
    {%- endif -%}
    {%- set changed = [] -%}
    {%- for name, comment in layout.column_comments.items() -%}
        {%- set column = dbt_delta._column(existing.columns, name) -%}
        {%- if column is not none and column.comment != comment -%}
            {%- do changed.append(
                dbt_delta._quoted(column.name) ~ ' comment ' ~ dbt_delta._literal(comment)
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if changed -%}
        {%- do statements.append(
            'alter table ' ~ dbt_delta._named(existing.relation) ~ ' alter column ' ~ changed | join(', ')
        ) -%}
    {%- endif -%}
    {{- return(statements) -}}
{%- endmacro %}

{# What a table that was just built still lacks: what CREATE TABLE AS cannot say. #}
{% macro _finish_build(relation, layout) -%}
    {%- set feed = layout.properties.get('delta.enableChangeDataFeed') -%}
    {%- if feed is not none and 'delta.enableChangeDataFeed' not in dbt_delta._creation_properties(layout) -%}
        {%- do run_query(
            'alter table ' ~ dbt_delta._named(relation) ~ ' set tblproperties '
            ~ dbt_delta._literal_pairs({'delta.enableChangeDataFeed': feed})
        ) -%}
    {%- endif -%}
    {%- if layout.column_comments -%}
        {%- set rows = run_query('describe extended ' ~ dbt_delta._named(relation)).rows -%}
        {%- set built = dict(dbt_delta._described(rows), relation=relation) -%}
        {%- for sql in dbt_delta.get_comment_sql(built, layout) -%}
            {%- do run_query(sql) -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}
