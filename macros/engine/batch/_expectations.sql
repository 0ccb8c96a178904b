{# Whether a row keeps an expectation: the expression is neither false nor NULL. #}
{% macro _holds(expectation) -%}
    {{- return('((' ~ expectation.expression ~ '\n) is true)') -}}
{%- endmacro %}

{# The rows of a SELECT, each with whether it breaks the Nth expectation. #}
{% macro _judged_sql(sql, columns, expectations) -%}
select
    judged.*
    {%- for one in expectations %},
    not {{ dbt_delta._holds(one) }} as __dbt_breaks_{{ loop.index0 }}
    {%- endfor %}
from (
{{ dbt_delta.get_staged_columns_sql('(\n' ~ sql ~ ')', columns) }}
) as judged
{%- endmacro %}

{# Whether a judged row breaks an expectation with one of the actions. #}
{% macro _breaks(expectations, actions) -%}
    {%- set found = [] -%}
    {%- for one in expectations if one.action in actions -%}
        {%- do found.append('__dbt_breaks_' ~ expectations.index(one)) -%}
    {%- endfor -%}
    {{- return('(' ~ found | join(' or ') ~ ')' if found else 'false') -}}
{%- endmacro %}

{# The names of all expectations that a judged row breaks. #}
{% macro _broken(expectations) -%}
    {%- set texts = [] -%}
    {%- for one in expectations -%}
        {%- do texts.append('if(__dbt_breaks_' ~ loop.index0 ~ ', ' ~ dbt_delta._literal(one.name) ~ ', null)') -%}
    {%- endfor -%}
    {{- return('array_compact(array(' ~ texts | join(', ') ~ '))') -}}
{%- endmacro %}

{#
    The judged rows that reach the table. If they are read from the SELECT again, none was bad when they were counted.
    Its source may have changed since: then this fails at the first bad row.
#}
{% macro _kept_sql(judged) -%}
{%- set diverted = dbt_delta._breaks(judged.expectations, ['drop', 'quarantine']) -%}
{%- set unwanted = dbt_delta._breaks(judged.expectations, ['drop', 'quarantine', 'fail']) -%}
select {{ dbt_delta._quoted_list(judged.columns | map(attribute='name')) }}
from {{ judged.from }} as judged
where {{ 'if(' ~ unwanted ~ ', ' ~ dbt_delta._changed_meanwhile() ~ ', true)' if judged.staging is none else 'not ' ~ diverted }}
{% endmacro %}

{% macro _changed_meanwhile() -%}
    {{- return('raise_error(' ~ dbt_delta._literal(
        'The source of ' ~ dbt_delta._named(this) ~ ' changed during the write. The table is as it was. Run the model '
        ~ 'again, or set stage: table.'
    ) ~ ')') -}}
{%- endmacro %}

{#
    One row of what is counted: the judged rows, their fates, those that break more than a warning, and how many break
    each expectation.
#}
{% macro _judged_counts_sql(judged) -%}
{%- set expectations = judged.expectations -%}
{%- set is_quarantined = dbt_delta._breaks(expectations, ['quarantine']) -%}
select
    count(*) as row_count,
    count_if(not {{ dbt_delta._breaks(expectations, ['drop', 'quarantine']) }}) as kept,
    count_if({{ is_quarantined }}) as quarantined,
    count_if({{ dbt_delta._breaks(expectations, ['drop']) }} and not {{ is_quarantined }}) as dropped,
    count_if({{ dbt_delta._breaks(expectations, ['drop', 'quarantine', 'fail']) }}) as unwanted
    {%- for one in expectations %},
    count_if(__dbt_breaks_{{ loop.index0 }}) as broken_{{ loop.index0 }}
    {%- endfor %}
from {{ judged.from }} as judged
{%- endmacro %}

{# The judged rows that go to the quarantine. #}
{% macro _diverted_sql(judged) -%}
select *, {{ dbt_delta._broken(judged.expectations) }} as _expectations
from {{ judged.from }} as judged
where {{ dbt_delta._breaks(judged.expectations, ['quarantine']) }}
{%- endmacro %}

{#
    The quarantined rows of this run as the table stores them, with `__dbt_in_scope`: whether this run replaces such
    rows. A scope is {kind, where, keys, nulls}: `all`, `none`, `where` with a condition, or `keys` with a list of {old,
    new}, the key in a row of the quarantine and in a judged row; `nulls`: NULL is a value like any other.
#}
{% macro _new_quarantine_sql(judged, columns, scope) -%}
{%- set values, has = [], [] -%}
{%- for column in columns -%}
    {%- set value = 'cast(null as ' ~ column.type ~ ')' if column.get('source') is none
        else dbt_delta._read(column, 'judged') if column.source_type == column.type
        else 'cast(' ~ dbt_delta._read(column, 'judged') ~ ' as ' ~ column.type ~ ')' -%}
    {%- do values.append(value ~ ' as ' ~ dbt_delta._quoted(column.name)) -%}
{%- endfor -%}
{%- for key in scope['keys'] -%}{%- do has.append('(' ~ key.new ~ ') is not null') -%}{%- endfor -%}
select
    *,
    {{ 'coalesce(' ~ scope.where ~ ', false)' if scope.kind == 'where' else '__dbt_has_key' }} as __dbt_in_scope
from (
    select
        {{ values | join(',\n        ') }},
        _expectations,
        {{ 'true' if scope.kind == 'all' or scope.nulls else has | join(' and ') if scope.kind == 'keys' else 'false' }}
            as __dbt_has_key
    from ({{ dbt_delta._diverted_sql(judged) }}) as judged
)
{%- endmacro %}

{# The rows of the quarantine, with the same `__dbt_in_scope`. #}
{% macro _old_quarantine_sql(name, judged, scope) -%}
{%- if scope.kind == 'keys' -%}
    {%- set names, same, equals = [], [], ' <=> ' if scope.nulls else ' = ' -%}
    {%- for key in scope['keys'] -%}
        {%- do names.append(key.new ~ ' as __dbt_key_' ~ loop.index) -%}
        {%- do same.append('(' ~ key.old ~ ')' ~ equals ~ '__dbt_keys.__dbt_key_' ~ loop.index) -%}
    {%- endfor -%}
select old.*, __dbt_keys.__dbt_is_there is not null as __dbt_in_scope
from {{ name }} as old
left join (
    select distinct {{ names | join(', ') }}, true as __dbt_is_there from {{ judged.from }} as judged
) as __dbt_keys
    on {{ same | join(' and ') }}
{%- else -%}
select
    *,
    {{ 'true' if scope.kind == 'all' else 'coalesce(' ~ (scope.old_where or scope.where) ~ ', false)' if scope.kind == 'where' else 'false' }}
        as __dbt_in_scope
from {{ name }}
{%- endif -%}
{%- endmacro %}

{# What makes two rows of a quarantine the same, as c1, c2, .. #}
{% macro _compared_quarantine(columns) -%}
    {%- set compared, names = [], [] -%}
    {%- for column in columns + [{'name': '_expectations', 'type': 'array<string>'}] -%}
        {%- do compared.append(
            dbt_delta._comparable(dbt_delta._quoted(column.name), column.type) ~ ' as __dbt_c' ~ loop.index
        ) -%}
        {%- do names.append('__dbt_c' ~ loop.index) -%}
    {%- endfor -%}
    {{- return({'columns': compared, 'names': names}) -}}
{%- endmacro %}

{# One row if this run changes the quarantine: rows to add, or rows of its scope that are gone. #}
{% macro _quarantine_difference_sql(name, judged, columns, scope) -%}
{%- set compared = dbt_delta._compared_quarantine(columns) -%}
select 1 as differs
from (
    select {{ compared.columns | join(', ') }}, __dbt_in_scope, 1 as new, 0 as old
    from ({{ dbt_delta._new_quarantine_sql(judged, columns, scope) }})
    union all
    select {{ compared.columns | join(', ') }}, __dbt_in_scope, 0 as new, 1 as old
    from ({{ dbt_delta._old_quarantine_sql(name, judged, scope) }})
)
group by {{ compared.names | join(', ') }}, __dbt_in_scope
having sum(new) > sum(old) or (__dbt_in_scope and sum(new) < sum(old))
limit 1
{%- endmacro %}

{#
    The rows that a run adds: those of its scope, and of the others those that are not there yet, as often as they are.
    With `keeps` also the rows of the quarantine that stay.
#}
{% macro _quarantined_sql(name, judged, columns, scope, keeps) -%}
{%- set compared = dbt_delta._compared_quarantine(columns) -%}
{%- set list = dbt_delta._quoted_list(columns | map(attribute='name')) -%}
{%- set own = dbt_delta._literal(invocation_id) ~ ' as _invocation_id, current_timestamp() as _quarantined_at' -%}
{%- set numbered, same = [], ['new.__dbt_copy = old.__dbt_copy'] -%}
{%- for column in compared.names -%}{%- do same.append('new.' ~ column ~ ' <=> old.' ~ column) -%}{%- endfor -%}
{%- for sql in (
    dbt_delta._new_quarantine_sql(judged, columns, scope), dbt_delta._old_quarantine_sql(name, judged, scope)
) -%}
    {%- do numbered.append(
        '(select *, row_number() over (partition by ' ~ compared.names | join(', ') ~ ' order by 1) as __dbt_copy from ('
        ~ 'select *, ' ~ compared.columns | join(', ') ~ ' from (\n' ~ sql ~ '\n) where not __dbt_in_scope))'
    ) -%}
{%- endfor -%}
select {{ list }}, _expectations, {{ own }}
from ({{ dbt_delta._new_quarantine_sql(judged, columns, scope) }})
where __dbt_in_scope
union all
select {{ list }}, _expectations, {{ own }}
from {{ numbered[0] }} as new
left anti join {{ numbered[1] }} as old
    on {{ same | join(' and ') }}
{%- if keeps %}
union all
select {{ list }}, _expectations, _invocation_id, _quarantined_at
from ({{ dbt_delta._old_quarantine_sql(name, judged, scope) }})
where not __dbt_in_scope
{%- endif %}
{%- endmacro %}

{# A quarantine of this run's rows only, in the place of `existing`, if there is one: its pins and retention stay. #}
{% macro _create_quarantine_sql(name, judged, columns, existing=none) -%}
{%- set scope = dbt_delta._scope('all') -%}
{{ dbt_delta._in_format('create_words')() if existing is none else 'create or replace table' }} {{ name }}
using {{ dbt_delta._target_format() }}
{%- set properties = dbt_delta._feature_properties(['column_mapping', 'type_widening']) %}
{%- if existing is not none %}{% set properties = dbt_delta._handed_on(existing, properties) %}{% endif %}
{%- if properties %}
tblproperties {{ dbt_delta._literal_pairs(properties) }}
{%- endif %}
as
select
    * except (__dbt_has_key, __dbt_in_scope),
    {{ dbt_delta._literal(invocation_id) }} as _invocation_id,
    current_timestamp() as _quarantined_at
from ({{ dbt_delta._new_quarantine_sql(judged, columns, scope) }})
{%- endmacro %}

{# The bad rows of a view. A view stores no rows, so no run has put them there. #}
{% macro _quarantine_view_sql(judged) -%}
select
    {{ dbt_delta._quoted_list(judged.columns | map(attribute='name')) }},
    _expectations,
    cast(null as string) as _invocation_id,
    cast(null as timestamp) as _quarantined_at
from (
{{ dbt_delta._diverted_sql(judged) }}
)
{%- endmacro %}

{# The good rows of a view. #}
{% macro _good_view_sql(sql, expectations) -%}
    {%- set conditions = [] -%}
    {%- for one in expectations if one.action in ('drop', 'quarantine') -%}
        {%- do conditions.append(dbt_delta._holds(one)) -%}
    {%- endfor -%}
    {{- return(
        'select *\nfrom (\n' ~ sql ~ ') as judged\nwhere ' ~ conditions | join('\n    and ') ~ '\n' if conditions else sql
    ) -}}
{%- endmacro %}
{#
    Which rows of a quarantine a run replaces; see _new_quarantine_sql. `is_repeated`: each run with good rows commits,
    and one that was killed is run again with the same rows. `took`: the killed run whose rows are replaced.
#}
{% macro _scope(kind, where=none, keys=[], nulls=false, is_repeated=false) -%}
    {{- return({
        'kind': kind, 'where': where, 'old_where': none, 'keys': keys, 'nulls': nulls, 'is_repeated': is_repeated,
        'took': none,
    }) -}}
{%- endmacro %}

{# The rows that the strategy would replace in the table. A row with a NULL key replaces none: it is appended. #}
{% macro _batch_scope(table, batch, settings) -%}
    {%- set strategy = settings.strategy -%}
    {%- if strategy in ('replace_where', 'microbatch') -%}
        {%- set conditions = dbt_delta._replacing(table, settings) -%}
        {{- return(dbt_delta._scope('where', where=dbt_delta._all_of(conditions)) if conditions else dbt_delta._scope('none')) -}}
    {%- elif strategy == 'insert_overwrite' -%}
        {%- set keys = dbt_delta._scope_keys(table, batch, table.clustering) if table.clustering
            else dbt_delta._in_format('partition_keys')(table, batch) -%}
        {{- return(dbt_delta._scope('keys', keys=keys, nulls=true) if keys else dbt_delta._scope('all')) -}}
    {%- elif strategy == 'append' or not settings.unique_key -%}
        {{- return(dbt_delta._scope('none', is_repeated=strategy == 'append')) -}}
    {%- endif -%}
    {{- return(dbt_delta._scope('keys', keys=dbt_delta._scope_keys(table, batch, settings.unique_key))) -}}
{%- endmacro %}

{% macro _scope_keys(table, batch, names) -%}
    {%- set keys = [] -%}
    {%- for name in names -%}
        {%- do keys.append({
            'old': 'old.' ~ dbt_delta._key(table, name), 'new': dbt_delta._key_of_batch(table, batch, name, 'judged'),
        }) -%}
    {%- endfor -%}
    {{- return(keys) -}}
{%- endmacro %}
