{#
    A pattern of strings, quoted names and comments, each one token in SQL; for DOTALL. Comments may contain comments.
    In r'..' a backslash is a plain character.
#}
{% macro _opaque_tokens() -%}
    {%- set comment = namespace(inner='(?!)') -%}
    {%- for _ in range(4) -%}
        {%- set comment.inner = '/\\*(?:(?!/\\*|\\*/).|' ~ comment.inner ~ ')*\\*/' -%}
    {%- endfor -%}
    {{- return(
        "(?<!\\w)[rR](?:'[^']*'|\"[^\"]*\")|'(?:[^'\\\\]|\\\\.|'')*'|\"(?:[^\"\\\\]|\\\\.|\"\")*\"|`(?:[^`]|``)*`"
        ~ '|--(?:\\\\\n|[^\r\n])*|' ~ comment.inner
    ) -}}
{%- endmacro %}

{# The tokens of SQL without comments, {text, at, end}. Words are in lower case, because Spark ignores case. #}
{% macro _lexed(sql) -%}
    {%- set tokens = [] -%}
    {%- for match in modules.re.finditer('(?s)' ~ dbt_delta._opaque_tokens() ~ '|\\w+|[^\\s\\w]', sql)
        if match.group()[:2] not in ('--', '/*') -%}
        {%- set text = match.group() -%}
        {%- do tokens.append({
            'text': text if text[-1] in '\'"`' else text | lower, 'at': match.start(), 'end': match.end(),
        }) -%}
    {%- endfor -%}
    {{- return(tokens) -}}
{%- endmacro %}

{# Their texts alone. #}
{% macro _tokens(sql) -%}
    {{- return(dbt_delta._lexed(sql) | map(attribute='text') | list) -}}
{%- endmacro %}

{# Whether the brackets in SQL match. #}
{% macro _is_balanced(sql) -%}
    {%- set at = namespace(depth=0, lowest=0) -%}
    {%- for token in dbt_delta._tokens(sql) -%}
        {%- set at.depth = at.depth + (token == '(') | int - (token == ')') | int -%}
        {%- set at.lowest = [at.lowest, at.depth] | min -%}
    {%- endfor -%}
    {{- return(at.depth == 0 and at.lowest == 0) -}}
{%- endmacro %}

{# Whether SQL has a subquery, also one without the word, such as (table t), (from t) or (values 1). #}
{% macro _has_subquery(sql) -%}
    {%- set tokens = dbt_delta._tokens(sql) + ['', ''] -%}
    {%- set words = 'is in between like ilike rlike regexp not and or div collate'.split() -%}
    {%- for n in range(tokens | length) if tokens[n] == '(' and tokens[n + 1] in ('from', 'table', 'values') -%}
        {#- A column may have such a name. -#}
        {%- set next = tokens[n + 2] -%}
        {%- if next not in words and modules.re.match('[\\w`(\'"]', next) -%}{{- return(true) -}}{%- endif -%}
    {%- endfor -%}
    {{- return('select' in tokens) -}}
{%- endmacro %}

{# Whether SQL names a column or field by its path; a, a.b and a.b.c all name a.b. #}
{% macro _mentions(sql, path) -%}
    {%- set tokens = dbt_delta._tokens(sql) + [''] -%}
    {%- set steps = path | map('lower') | list -%}
    {%- for n in range(tokens | length - 1) if dbt_delta._name_of(tokens[n]) == steps[0] -%}
        {%- set at = namespace(next=n + 1, is_named=n == 0 or tokens[n - 1] != '.') -%}
        {#- A word before a bracket or a literal is a function or a type. -#}
        {%- set is_other = tokens[n][0] != '`' and tokens[n + 1][:1] in ('(', "'", '"') -%}
        {%- set at.is_named = at.is_named and not is_other -%}
        {%- for step in steps[1:] if tokens[at.next] == '.' -%}
            {%- if dbt_delta._name_of(tokens[at.next + 1]) != step -%}{%- set at.is_named = false -%}{%- endif -%}
            {%- set at.next = at.next + 2 -%}
        {%- endfor -%}
        {%- if at.is_named -%}{{- return(true) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{% macro _name_of(token) -%}
    {{- return((token[1:-1] | replace('``', '`') if token[:1] == '`' else token) | lower) -}}
{%- endmacro %}

{#
    A SELECT that can be part of a statement: without semicolons and comments at its end. It ends in a line break,
    which ends a comment on its last line.
#}
{% macro _inner_sql(sql) -%}
    {%- set tokens = dbt_delta._opaque_tokens() ~ "|;|\\s+|[^'\"`;/\\s-]+|." -%}
    {%- set end = namespace(at=0) -%}
    {%- for token in modules.re.finditer(tokens, sql, modules.re.DOTALL) -%}
        {%- set text = token.group() -%}
        {%- if text != ';' and text[:2] not in ('--', '/*') and text.strip() -%}
            {%- set end.at = token.end() -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(sql[:end.at].strip() ~ '\n') -}}
{%- endmacro %}

{# The statements of a text, split at its semicolons, except those in strings and comments. #}
{% macro _statements(text) -%}
    {%- set tokens = dbt_delta._opaque_tokens() ~ "|;|." -%}
    {%- set statements = [] -%}
    {%- set at = namespace(start=0) -%}
    {%- for token in modules.re.finditer(tokens, text ~ ';', modules.re.DOTALL) if token.group() == ';' -%}
        {%- set statement = dbt_delta._inner_sql(text[at.start:token.start()]).strip() -%}
        {%- if statement -%}{%- do statements.append(statement) -%}{%- endif -%}
        {%- set at.start = token.end() -%}
    {%- endfor -%}
    {{- return(statements) -}}
{%- endmacro %}
