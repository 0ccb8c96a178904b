{#
    The changes of the table's columns that on_schema_change asks for, or an error before the first of them;
    get_alter_columns_sql returns their statements.
#}
{% macro _schema_changes(source_columns, table, settings, layout) -%}
    {%- set mode = settings.on_schema_change -%}
    {%- set changes = dbt_delta._column_changes(source_columns, table.columns) -%}
    {%- if mode == 'ignore' or not changes -%}{{- return([]) -}}{%- endif -%}
    {%- if mode == 'fail' -%}
        {%- do dbt_delta._refuse(
            'The source and target schemas on this incremental model are out of sync! '
            ~ 'on_schema_change is fail and ' ~ table.name ~ ' would need: '
            ~ dbt_delta._described_changes(changes)
            ~ '. Nothing was changed. Use on_schema_change append_new_columns or sync_all_columns, '
            ~ 'or rebuild with --full-refresh.'
        ) -%}
    {%- endif -%}
    {%- set wanted = [] -%}
    {%- for change in changes -%}
        {%- if change.kind == 'add' or mode == 'sync_all_columns'
            and not (change.kind == 'retype' and dbt_delta._fits(change.type, change.was)) -%}
            {%- do wanted.append(change) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_impossible(wanted, table, layout) -%}
    {#- The write gives no value to a column that is dropped after it. The column may be NOT NULL. -#}
    {%- for change in wanted | list if change.kind == 'drop' and change.path | length == 1
        and not dbt_delta._column(table.columns, change.path[0]).get('nullable', false) -%}
        {%- do wanted.append({'kind': 'release', 'path': change.path}) -%}
    {%- endfor -%}
    {{- return(wanted) -}}
{%- endmacro %}

{% macro _described_changes(changes) -%}
    {%- set texts = [] -%}
    {%- for change in changes -%}
        {%- set column = change.path | join('.') -%}
        {%- do texts.append(
            'new column ' ~ column ~ ' ' ~ change.type if change.kind == 'add' else
            'removed column ' ~ column if change.kind == 'drop' else
            'column ' ~ column ~ ' from ' ~ change.was ~ ' to ' ~ change.type
        ) -%}
    {%- endfor -%}
    {{- return(texts | join(', ')) -}}
{%- endmacro %}

{# Refuses all changes that the format would refuse after others were made, each with the way out. #}
{% macro _refuse_impossible(changes, table, layout) -%}
    {%- set texts = [] -%}
    {%- for change in changes -%}
        {%- set found = dbt_delta._in_format('impossible')(change, table, layout) -%}
        {%- if found is not none -%}
            {%- do texts.append(
                dbt_delta._described_changes([change]) ~ ' of ' ~ table.name ~ ': ' ~ found.problem
                ~ '. Nothing was changed. ' ~ found.way_out
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if texts -%}{%- do dbt_delta._refuse(texts | join('\n')) -%}{%- endif -%}
{%- endmacro %}

{# The table feature that a type needs and the table will not have; Delta does not switch it on by itself. #}
{% macro _missing_feature(type, table, layout) -%}
    {%- for name, feature in {'timestamp_ntz': 'timestampNtz', 'variant': 'variantType'}.items()
        if modules.re.search('\\b' ~ name ~ '\\b', modules.re.sub('`(?:[^`]|``)*`', '', type))
        and not dbt_delta._will_have_feature(table, layout, feature) -%}
        {{- return(feature) -}}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{# Whether a column is one of these paths, or a struct that contains one of them. #}
{% macro _holds_any(column, paths) -%}
    {%- set start = column | join('.') | lower ~ '.' -%}
    {%- for path in paths if (path | lower ~ '.').startswith(start) -%}{{- return(true) -}}{%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# The names of the table's future constraints that use a column, or may use it: Spark redacts some. #}
{% macro _constraints_on(path, table, layout) -%}
    {%- set checks = dict(layout.checks) -%}
    {%- for name in dbt_delta._constraint_names(table.properties)
        if name not in dbt_delta._surplus_checks(table, layout) -%}
        {%- do checks.setdefault(name, dbt_delta._constraint(table.properties, name)) -%}
    {%- endfor -%}
    {%- set names = [] -%}
    {%- for name, expression in checks.items()
        if expression is none or dbt_delta._mentions(expression, path) -%}
        {%- do names.append(name) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{# The names of columns that Delta computes from a column, if the session knows them. #}
{% macro _generated_from(path, table) -%}
    {%- set names = [] -%}
    {%- for column in table.columns
        if column.get('generation') and dbt_delta._mentions(column.generation, path) -%}
        {%- do names.append(column.name) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{#
    The table's columns at the time of the write, as {name, type}, without another look at the catalog. Columns that
    will be dropped are left out; fields of a struct that will be dropped are still there.
#}
{% macro _columns_after(source_columns, target_columns, mode, is_struct=false) -%}
    {%- if mode in ('ignore', 'fail') -%}{{- return(target_columns) -}}{%- endif -%}
    {%- set columns = [] -%}
    {%- for column in target_columns -%}
        {%- set source = dbt_delta._column(source_columns, column.name) -%}
        {%- if source is not none -%}
            {%- do columns.append(dict(column, type=dbt_delta._type_after(source.type, column.type, mode))) -%}
        {%- elif mode != 'sync_all_columns' or is_struct -%}
            {%- do columns.append(column) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for column in source_columns if dbt_delta._column(target_columns, column.name) is none -%}
        {%- do columns.append({'name': column.name, 'type': dbt_delta._stored_type(column.type)}) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{% macro _type_after(source, was, mode) -%}
    {%- set kind = dbt_delta._type_kind(was) -%}
    {%- if kind != dbt_delta._type_kind(source) -%}{{- return(was) -}}{%- endif -%}
    {%- if kind == 'atomic' -%}
        {{- return(source if mode == 'sync_all_columns' and dbt_delta._widens(was, source) else was) -}}
    {%- endif -%}
    {%- if kind == 'struct' -%}
        {{- return(dbt_delta._struct_type(dbt_delta._columns_after(
            dbt_delta._struct_fields(source), dbt_delta._struct_fields(was), mode, is_struct=true
        ))) -}}
    {%- endif -%}
    {%- set parts = [] -%}
    {%- set from = dbt_delta._type_parts(source) -%}
    {%- for part in dbt_delta._type_parts(was) -%}
        {%- do parts.append(dbt_delta._type_after(from[loop.index0], part, mode)) -%}
    {%- endfor -%}
    {{- return(kind ~ '<' ~ parts | join(',') ~ '>') -}}
{%- endmacro %}
