{# Replaces the rows for which the predicates hold; without predicates it appends. #}
{% macro get_replace_where_sql(target, batch, settings) -%}
{%- set predicate = dbt_delta._all_of(settings.predicates) -%}
{%- if not predicate -%}
    {{ dbt_delta.get_append_sql(target, batch, settings) }}
{%- elif dbt_delta._has_subquery(settings.predicates) -%}
    {#- Delta refuses a subquery here (DELTA_UNSUPPORTED_SUBQUERY): the rows to keep are written anew.
        NOT around the predicate would lose rows: Spark makes NOT IN of an IN below it, which is never NULL.
        UNION takes the wider type of both sides, so that rows to keep would change: the batch is cast.
        Without replaceWhere the overwritten table is not clustered any more. -#}
    {%- do dbt_delta._check_defaults(target, batch) -%}
insert overwrite table {{ target.name }} with ('replaceWhere' = 'true') by name
select
    {{ dbt_delta._all_columns(batch, casts=true) | join(',\n    ') }}
from {{ batch.from }}
union all
select {{ dbt_delta._quoted_list(dbt_delta._filled_columns(batch) | map(attribute='name') | list) }}
from {{ target.name }}
where ({{ predicate }}) is not true
{%- else -%}
insert overwrite table {{ target.name }} with (
    'replaceWhere' = {{ dbt_delta._literal(dbt_delta._without_between(predicate)) }}
) by name
{{ dbt_delta._select_batch(batch) }}
{%- endif -%}
{%- endmacro %}

{#
    Refuses to write NULL for a column that is an identity, or that may be computed by Delta or have a DEFAULT,
    where Spark does not tell. Writers before version 4 computed none.
#}
{% macro _check_defaults(target, batch) -%}
    {%- set computing = ['legacy'] if '4' <= target.properties.get('delta.minWriterVersion', '4') < '7' else [] -%}
    {%- for feature in ('allowColumnDefaults', 'generatedColumns', 'identityColumns')
        if dbt_delta._has_property(target.properties, 'delta.feature.' ~ feature, 'supported') -%}
        {%- do computing.append(feature) -%}
    {%- endfor -%}
    {%- for column in target.columns if dbt_delta._column(batch.columns, column.name) is none -%}
        {%- set is_identity = column.get('is_generated') and not column.get('generation') -%}
        {%- if is_identity or (computing and column.default is not defined) -%}
            {%- do dbt_delta._refuse_batch(
                batch,
                'The model gives no column ' ~ column.name ~ ', which ' ~ ('is an identity' if is_identity
                    else 'may have a DEFAULT or be computed') ~ ' in ' ~ target.name
                ~ ': with a subquery in incremental_predicates it would be NULL. Nothing was written. Give the column.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{#
    A condition that compares twice where it has BETWEEN, with which Delta ends in an internal error (Invalid
    call to nullable on unresolved object) where the condition is one on partition columns.
#}
{% macro _without_between(text) -%}
    {%- set tokens = modules.re.findall("(?s)" ~ dbt_delta._opaque_tokens() ~ "|->|\\w+|\\s+|.", text) -%}
    {%- set words, depths, at = [], [], namespace(depth=0, between=none, cases=[]) -%}
    {%- for token in tokens -%}
        {%- if token[:2] in ('--', '/*') -%}{%- do tokens.__setitem__(loop.index0, ' ') -%}{%- endif -%}
        {%- do words.append(token | lower) -%}
        {#- CASE .. END is a pair of brackets. A column may be called end. -#}
        {%- set ends_case = words[-1] == 'end' and at.cases and at.cases[-1] == at.depth - 1 -%}
        {%- if ends_case -%}{%- set at.cases = at.cases[:-1] -%}{%- endif -%}
        {%- if token == ')' or ends_case -%}{%- set at.depth = at.depth - 1 -%}{%- endif -%}
        {%- do depths.append(at.depth) -%}
        {%- if words[-1] == 'case' -%}{%- set at.cases = at.cases + [at.depth] -%}{%- endif -%}
        {%- if token == '(' or words[-1] == 'case' -%}{%- set at.depth = at.depth + 1 -%}{%- endif -%}
        {%- if at.between is none and words[-1] == 'between' -%}{%- set at.between = loop.index0 -%}{%- endif -%}
    {%- endfor -%}
    {%- if at.between is none -%}{{- return(text) -}}{%- endif -%}
    {%- set depth = depths[at.between] -%}
    {%- set ends = ['and', 'or', 'not', 'when', 'then', 'else', ',', '->'] -%}
    {#- The operand reaches back to a keyword or to the parenthesis around it; NOT may stand behind it. -#}
    {%- set operand = namespace(begin=0, end=at.between, is_negated=false, is_seen=false) -%}
    {%- for n in range(at.between) -%}
        {%- if depths[n] < depth or (depths[n] == depth and words[n] in ends) -%}
            {%- if words[n] != 'not' or (words[n + 1:at.between] | join).strip() -%}{%- set operand.begin = n + 1 -%}
            {%- else -%}{%- set operand.end, operand.is_negated = n, true -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set upper = namespace(begin=none, end=none) -%}
    {%- for n in range(at.between + 1, words | length) if upper.end is none -%}
        {%- if depths[n] < depth or (depths[n] == depth and words[n] in ends) -%}
            {%- if upper.begin is none -%}{%- set upper.begin = n + 1 -%}
            {%- else -%}{%- set upper.end = n -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if upper.begin is none -%}{{- return(text) -}}{%- endif -%}
    {%- set end = upper.end if upper.end is not none else words | length -%}
    {%- set value = (tokens[operand.begin:operand.end] | join).strip() -%}
    {%- if not value -%}{{- return(text) -}}{%- endif -%}
    {%- set low = (tokens[at.between + 1:upper.begin - 1] | join).strip() -%}
    {%- set high = (tokens[upper.begin:end] | join).strip() -%}
    {%- set signs = ['<', 'or', '>'] if operand.is_negated else ['>=', 'and', '<='] -%}
    {{- return(dbt_delta._without_between(
        (tokens[:operand.begin] | join) ~ ' (' ~ [value, signs[0], low, signs[1], value, signs[2], high] | join(' ') ~ ') '
        ~ tokens[end:] | join
    )) -}}
{%- endmacro %}

{% macro _has_subquery(predicates) -%}
    {{- return('select' in dbt_delta._tokens(predicates | join(' '))) -}}
{%- endmacro %}

{% macro _all_of(predicates) -%}
    {{- return(
        predicates[0] if predicates | length == 1 else
        ('(' ~ predicates | join(')\n    and (') ~ ')' if predicates else '')
    ) -}}
{%- endmacro %}

{# The columns of the target, without those that the batch lacks and Delta computes. #}
{% macro _filled_columns(batch) -%}
    {%- set columns = [] -%}
    {%- for column in batch.target_columns
        if not column.get('is_generated') or dbt_delta._column(batch.columns, column.name) is not none -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{# A value for each of them, its DEFAULT or NULL for those that the batch lacks. #}
{% macro _all_columns(batch, casts=false) -%}
    {%- set values = [] -%}
    {%- for column in dbt_delta._filled_columns(batch) -%}
        {%- set found = dbt_delta._column(batch.columns, column.name) -%}
        {%- set value = dbt_delta._value(found) if found is not none else column.get('default') or 'null' -%}
        {%- if found is none or (casts and found.source_type != column.type) -%}
            {%- set value = 'cast(' ~ value ~ ' as ' ~ column.type ~ ')' -%}
        {%- endif -%}
        {%- do values.append(value ~ ' as ' ~ dbt_delta._quoted(column.name)) -%}
    {%- endfor -%}
    {{- return(values) -}}
{%- endmacro %}
