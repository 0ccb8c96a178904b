{#
    Statements that change an existing table to match the configuration and the columns of the batch, in an order that
    Delta accepts: a constraint or clustering is removed before its column is dropped, and added after its column is.
    None if nothing differs; without a layout only columns change.
#}
{% macro get_align_sql(existing, layout, changes=[]) -%}
    {%- set table = 'alter table ' ~ dbt_delta._named(existing.relation) -%}
    {%- set columns = dbt_delta.get_alter_columns_sql(existing, changes) -%}
    {%- if layout is none -%}{{- return(columns.kept + columns.dropped) -}}{%- endif -%}
    {%- set statements, properties = [], {} -%}
    {%- for key, value in layout.properties.items() -%}
        {%- if not dbt_delta._has_property(existing.properties, key, value) -%}
            {%- do properties.update({key: value}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if properties -%}
        {%- do statements.append(dbt_delta.get_set_properties_sql(existing.relation, properties)) -%}
    {%- endif -%}
    {%- for name in dbt_delta._surplus_checks(existing, layout) -%}
        {%- do statements.append(dbt_delta._in_format('drop_check_sql')(dbt_delta._named(existing.relation), name)) -%}
    {%- endfor -%}
    {%- do statements.extend(columns.kept) -%}
    {%- if layout.clustering | map('lower') | list != existing.clustering | map('lower') | list
        and not existing.partitions -%}
        {%- do statements.append(
            table ~ ' cluster by '
            ~ ('(' ~ dbt_delta._quoted_paths(layout.clustering) ~ ')' if layout.clustering else 'none')
        ) -%}
    {%- endif -%}
    {%- do statements.extend(columns.dropped) -%}
    {%- for name, expression in dbt_delta._missing_checks(existing, layout).items() -%}
        {%- do statements.append(
            dbt_delta._in_format('add_check_sql')(dbt_delta._named(existing.relation), name, expression)
        ) -%}
    {%- endfor -%}
    {{- return(statements + dbt_delta.get_comment_sql(existing, layout, changes)) -}}
{%- endmacro %}

{% macro get_comment_sql(existing, layout, changes=[]) -%}
    {%- set statements, changed = [], [] -%}
    {%- if layout.comment is not none and layout.comment != existing.comment -%}
        {%- do statements.append(
            'comment on table ' ~ dbt_delta._named(existing.relation)
            ~ ' is ' ~ dbt_delta._literal(layout.comment)
        ) -%}
    {%- endif -%}
    {%- set columns = dbt_delta._commented(existing.columns, changes) -%}
    {%- for name, comment in layout.column_comments.items() -%}
        {%- set column = dbt_delta._column(columns, name) -%}
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

{# The columns with their comments after the changes. #}
{% macro _commented(columns, changes) -%}
    {%- set after = columns | list -%}
    {%- for change in changes if change.path | length == 1 -%}
        {%- if change.kind == 'add' -%}
            {%- do after.append({'name': change.path[0], 'comment': ''}) -%}
        {%- elif change.kind == 'drop' -%}
            {%- do after.remove(dbt_delta._column(after, change.path[0])) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(after) -}}
{%- endmacro %}

{% macro get_set_properties_sql(relation, properties) -%}
alter table {{ dbt_delta._named(relation) }} set tblproperties {{ dbt_delta._literal_pairs(properties) }}
{%- endmacro %}

{% macro _unset_properties_sql(relation, keys) -%}
    {%- set literals = [] -%}
    {%- for key in keys -%}{%- do literals.append(dbt_delta._literal(key)) -%}{%- endfor -%}
    {{- return(
        'alter table ' ~ dbt_delta._named(relation) ~ ' unset tblproperties if exists (' ~ literals | join(', ') ~ ')'
    ) -}}
{%- endmacro %}

{# ALTER statements of the changes: {kept, dropped}. #}
{% macro get_alter_columns_sql(existing, changes) -%}
    {%- set table = 'alter table ' ~ dbt_delta._named(existing.relation) -%}
    {%- set kept, added, dropped = [], [], [] -%}
    {%- for change in changes -%}
        {%- set column = dbt_delta._quoted_path(change.path) -%}
        {%- if change.kind == 'drop' -%}{%- do dropped.append(column) -%}
        {%- elif change.kind == 'release' -%}{%- do kept.append(table ~ ' alter column ' ~ column ~ ' drop not null') -%}
        {%- elif change.kind == 'add' -%}{%- do added.append(column ~ ' ' ~ dbt_delta._stored_type(change.type)) -%}
        {%- else -%}
            {%- do kept.append(table ~ ' alter column ' ~ column ~ ' type ' ~ change.type) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if added -%}
        {%- do kept.append(table ~ ' add columns (' ~ added | join(', ') ~ ')') -%}
    {%- endif -%}
    {{- return({
        'kept': kept,
        'dropped': [table ~ ' drop columns (' ~ dropped | join(', ') ~ ')'] if dropped else [],
    }) -}}
{%- endmacro %}
