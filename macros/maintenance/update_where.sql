{#
    Counts the rows that meet a predicate and do not have the values yet, and updates them. A value that would change
    in its column, or that violates a constraint, is refused before the write.
#}
{% macro update_where(relation, set, predicate, dry_run=false) -%}
    {%- do dbt_delta._in_format('check_operation')('update_where') -%}
    {%- if not execute -%}{{- return('') -}}{%- endif -%}
    {%- set relation = dbt_delta._relation_given(relation, 'update_where') -%}
    {%- set what = 'update_where of ' ~ dbt_delta._named(relation) -%}
    {%- set predicate = dbt_delta._predicate(predicate, what) -%}
    {%- set existing = dbt_delta._changeable_table(relation, 'update_where') -%}
    {%- set masked = dbt_delta._masked_columns(relation) -%}
    {%- do dbt_delta._hide_values(masked) -%}
    {%- do dbt_delta._check_expression(dbt_delta._named(relation), predicate, predicate, what ~ ' has predicate') -%}
    {%- set values = dbt_delta._new_values(existing, set, what) -%}
    {%- set found = dbt_delta._ask(dbt_delta.get_update_count_sql(existing, values, predicate)).rows[0] -%}
    {%- for value in values if value.misfit -%}
        {%- set misfits = found['misfits_' ~ values.index(value)] | int -%}
        {%- if misfits -%}
            {%- do dbt_delta._refuse(
                what ~ ': ' ~ value.name ~ ' is ' ~ value.type ~ ', which cannot hold ' ~ '{:,}'.format(misfits)
                ~ ' values of ' ~ value.expression | trim ~ ' exactly. Nothing was changed. Round or cast them in the '
                ~ 'expression.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set changed = found['changed'] | int -%}
    {%- if changed -%}
        {%- do dbt_delta._refuse_violations(
            dbt_delta._checks_of_table(existing),
            '(' ~ dbt_delta.get_updated_rows_sql(existing, values, predicate) ~ ')',
            'the rows as they would be in ' ~ dbt_delta._named(relation),
            masked,
        ) -%}
    {%- endif -%}
    {%- if changed and not dry_run -%}
        {%- do dbt_delta._execute(dbt_delta.get_update_where_sql(relation, values, predicate)) -%}
    {%- endif -%}
    {%- do log(
        'update_where ' ~ dbt_delta._named(relation) ~ ' set ' ~ values | map(attribute='name') | join(', ') ~ ' where '
        ~ predicate | trim ~ ': ' ~ '{:,}'.format(found['row_count'] | int) ~ ' rows, '
        ~ '{:,}'.format(changed) ~ ' of them in ' ~ dbt_delta._files(found['files'] | int) ~ ' with other values'
        ~ ('' if changed else ', nothing to do') ~ (' (dry run)' if dry_run and changed else ''),
        info=true
    ) -%}
    {{- return('') -}}
{%- endmacro %}

{#
    The values to set, checked: {name, type, expression, value, same, misfit}. `value` has the type of the column;
    `same` is the condition that a row already has it; `misfit` is the condition that the column cannot hold it
    exactly, empty if it always can.
#}
{% macro _new_values(existing, given, what) -%}
    {%- if given is not mapping or not given -%}
        {%- do dbt_delta._refuse(
            what ~ " has set '" ~ given ~ "'. Use columns and their values in SQL, as in {status: \"'closed'\", "
            ~ 'amount: amount * 2}.'
        ) -%}
    {%- endif -%}
    {%- set values = [] -%}
    {%- for key, expression in given.items() -%}
        {%- set column = dbt_delta._column(existing.columns, dbt_delta._names(key)[0]) -%}
        {%- if column is none -%}
            {%- do dbt_delta._refuse(
                what ~ " sets '" ~ key ~ "', which is not a column of it. Its columns are "
                ~ existing.columns | map(attribute='name') | join(', ') ~ '. Set a struct as a whole.'
            ) -%}
        {%- elif dbt_delta._column(values, column.name) is not none -%}
            {%- do dbt_delta._refuse(what ~ ' sets ' ~ column.name ~ ' twice. Use one value.') -%}
        {%- elif column.get('is_generated') -%}
            {%- do dbt_delta._refuse(
                what ~ ' sets ' ~ column.name ~ ', which Delta computes'
                ~ (' as ' ~ column.generation if column.get('generation') else '') ~ '. Set the columns that it reads.'
            ) -%}
        {%- endif -%}
        {%- set text = 'null' if expression is none else dbt_delta._inner_sql(dbt_delta._plain(expression)) -%}
        {%- if not text | trim -%}
            {%- do dbt_delta._refuse(
                what ~ ' sets ' ~ column.name ~ " to an empty expression. Use null, or '' for an empty text."
            ) -%}
        {%- endif -%}
        {%- do dbt_delta._refuse_subquery(text, what ~ ' sets ' ~ column.name ~ ' to') -%}
        {%- do values.append(dbt_delta._new_value(existing, column, text, what)) -%}
    {%- endfor -%}
    {{- return(values) -}}
{%- endmacro %}

{% macro _new_value(existing, column, expression, what) -%}
    {%- set type = column.get('declared') or column.type -%}
    {%- set name = dbt_delta._named(existing.relation) -%}
    {%- do dbt_delta._check_expression(
        name, expression, '(' ~ expression ~ ') is null', what ~ ' sets ' ~ column.name ~ ' to'
    ) -%}
    {%- set from = dbt_delta._columns_of('select (' ~ expression ~ ') as value from ' ~ name)[0].type -%}
    {%- set is_nested = dbt_delta._type_kind(column.type) != 'atomic' -%}
    {%- if (is_nested or dbt_delta._type_kind(from) != 'atomic' or from.startswith('interval')) and from != 'void'
        and from | lower != column.type | lower -%}
        {%- do dbt_delta._refuse(
            what ~ ' sets ' ~ column.name ~ ', which is ' ~ column.type ~ ', to ' ~ expression | trim ~ ', which is '
            ~ from ~ '. Nothing was changed. Use the same type, as in cast(.. as ' ~ column.type ~ ').'
        ) -%}
    {%- endif -%}
    {%- set misfit = '' -%}
    {%- if from == 'string' or column.get('declared') -%}
        {%- set misfit = dbt_delta._misfit('cast((' ~ expression ~ ') as string)', type) -%}
    {%- elif not is_nested and not dbt_delta._fits(from, column.type) -%}
        {%- set tried = 'try_cast((' ~ expression ~ ') as ' ~ column.type ~ ')' -%}
        {%- set misfit = '(' ~ expression ~ ') is not null and not (try_cast(' ~ tried ~ ' as ' ~ from ~ ') <=> ('
            ~ expression ~ '))' -%}
    {%- endif -%}
    {%- set value = ('try_cast((' if misfit else 'cast((') ~ expression ~ ') as ' ~ column.type ~ ')' -%}
    {%- if type.startswith('char(') -%}
        {%- set value = 'rpad(' ~ value ~ ', ' ~ modules.re.findall('\\d+', type)[0] ~ ", ' ')" -%}
    {%- endif -%}
    {%- if column.type == 'string' and column.name | lower in existing.partitions | map('lower') -%}
        {%- set lost = dbt_delta._is_lost_in_partition('cast((' ~ expression ~ ') as string)') -%}
        {%- set misfit = misfit ~ ' or ' ~ lost if misfit else lost -%}
    {%- endif -%}
    {%- set same = dbt_delta._comparable(dbt_delta._quoted(column.name), column.type) ~ ' <=> '
        ~ dbt_delta._comparable(value, column.type) -%}
    {%- if misfit -%}
        {#- This also holds for rows that arrive after the count. -#}
        {%- set value = 'if(' ~ misfit ~ ', raise_error(' ~ dbt_delta._literal(
            what ~ ': a value of a new row for ' ~ column.name ~ ' is not a valid ' ~ type ~ '. Nothing was changed.'
        ) ~ '), ' ~ value ~ ')' -%}
    {%- endif -%}
    {{- return({
        'name': column.name, 'type': type, 'expression': expression, 'value': value, 'misfit': misfit, 'same': same,
    }) -}}
{%- endmacro %}

{# The constraints of a table, as name: expression; those that Spark does not show are left to the write. #}
{% macro _checks_of_table(existing) -%}
    {%- set checks = {} -%}
    {%- for name in dbt_delta._constraint_names(existing.properties) -%}
        {%- set expression = existing.properties[dbt_delta._constraint_property(name)] -%}
        {%- if expression is not none -%}{%- do checks.update({name: expression}) -%}{%- endif -%}
    {%- endfor -%}
    {%- for column in existing.columns if column.get('nullable') is false -%}
        {%- do checks.update({'NOT NULL of ' ~ column.name: dbt_delta._quoted(column.name) ~ ' is not null'}) -%}
    {%- endfor -%}
    {{- return(checks) -}}
{%- endmacro %}

{% macro _not_yet_so(values) -%}
    {%- set same = [] -%}
    {%- for value in values -%}{%- do same.append('(' ~ value.same ~ ')') -%}{%- endfor -%}
    {{- return('not (' ~ same | join(' and ') ~ ')') -}}
{%- endmacro %}

{% macro get_update_count_sql(existing, values, predicate) -%}
{%- set fits = [] -%}
select
    count(*) as row_count,
    {%- for value in values if value.misfit %}
    {%- do fits.append('not coalesce(' ~ value.misfit ~ ', false)') %}
    count_if({{ value.misfit }}) as misfits_{{ values.index(value) }},
    {%- endfor %}
    count_if({{ (fits + [dbt_delta._not_yet_so(values)]) | join(' and ') }}) as changed,
    count(distinct if({{ (fits + [dbt_delta._not_yet_so(values)]) | join(' and ') }}, _metadata.file_path, null)) as files
from {{ dbt_delta._named(existing.relation) }}
where {{ predicate }}
{%- endmacro %}

{# The rows that change, with their new values. Delta recomputes generated columns. #}
{% macro get_updated_rows_sql(existing, values, predicate) -%}
{%- set set, made = [], [] -%}
{%- for column in existing.columns -%}
    {%- set value, name = dbt_delta._column(values, column.name), dbt_delta._quoted(column.name) -%}
    {%- do set.append(value.value ~ ' as ' ~ name if value else name) -%}
    {%- do made.append(
        'cast((' ~ column.generation ~ ') as ' ~ column.type ~ ') as ' ~ name if column.get('generation') else name
    ) -%}
{%- endfor -%}
select {{ made | join(', ') }}
from (
    select {{ set | join(', ') }}
    from {{ dbt_delta._named(existing.relation) }}
    where ({{ predicate }}) and {{ dbt_delta._not_yet_so(values) }}
)
{%- endmacro %}

{% macro get_update_where_sql(relation, values, predicate) -%}
{%- set assignments = [] -%}
{%- for value in values -%}
    {%- do assignments.append(dbt_delta._quoted(value.name) ~ ' = ' ~ value.value) -%}
{%- endfor -%}
update {{ dbt_delta._named(relation) }}
set {{ assignments | join(', ') }}
where ({{ predicate }}) and {{ dbt_delta._not_yet_so(values) }}
{%- endmacro %}
