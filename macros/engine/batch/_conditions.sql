{% macro _all_of(predicates) -%}
    {{- return(
        predicates[0] if predicates | length == 1 else
        ('(' ~ predicates | join(')\n    and (') ~ ')' if predicates else '')
    ) -}}
{%- endmacro %}

{# The alias by which conditions name the table. A condition that Delta reads as an option has none. #}
{% macro _as_dest(settings) -%}
    {{- return('' if settings.strategy in ('replace_where', 'microbatch') else ' as ' ~ settings.target_alias) -}}
{%- endmacro %}

{% macro _has_subquery(predicates) -%}
    {{- return('select' in dbt_delta._tokens(predicates | join(' '))) -}}
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
