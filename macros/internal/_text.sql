{# A name as Spark reads it whatever it holds. #}
{% macro _quoted(name) -%}
    {{- return('`' ~ (name | string | replace('`', '``')) ~ '`') -}}
{%- endmacro %}

{# The path of a column in a struct, each step quoted: a.b gives `a`.`b`. #}
{% macro _quoted_path(path) -%}
    {%- set steps = path.split('.') if path is string else path -%}
    {%- set quoted = [] -%}
    {%- for step in steps -%}{%- do quoted.append(dbt_delta._quoted(step)) -%}{%- endfor -%}
    {{- return(quoted | join('.')) -}}
{%- endmacro %}

{# The steps of a column's path as Spark quotes it: a.`b.c` gives a and b.c. #}
{% macro _path_steps(path) -%}
    {%- set steps = [] -%}
    {%- for quoted, plain in modules.re.findall('`((?:[^`]|``)*)`|([^.`]+)', path) -%}
        {%- do steps.append(plain or quoted | replace('``', '`')) -%}
    {%- endfor -%}
    {{- return(steps) -}}
{%- endmacro %}

{# Names of columns, quoted, as a list in SQL. #}
{% macro _quoted_list(names) -%}
    {%- set quoted = [] -%}
    {%- for name in names -%}{%- do quoted.append(dbt_delta._quoted(name)) -%}{%- endfor -%}
    {{- return(quoted | join(', ')) -}}
{%- endmacro %}

{# The same of columns that may lie in structs. #}
{% macro _quoted_paths(paths) -%}
    {%- set quoted = [] -%}
    {%- for path in paths -%}{%- do quoted.append(dbt_delta._quoted_path(path)) -%}{%- endfor -%}
    {{- return(quoted | join(', ')) -}}
{%- endmacro %}

{# A relation with schema and name quoted; dbt-spark quotes neither. #}
{% macro _named(relation) -%}
    {{- return(dbt_delta._quoted(relation.schema) ~ '.' ~ dbt_delta._quoted(relation.identifier)) -}}
{%- endmacro %}

{# schema.table without quotes, for messages. #}
{% macro _bare(relation) -%}
    {{- return(relation.schema ~ '.' ~ relation.identifier) -}}
{%- endmacro %}

{# A string as a SQL literal. Spark replaces ${..} in a statement's text, in literals too. #}
{% macro _literal(text) -%}
    {%- set escaped = text | string | replace('\\', '\\\\') | replace("'", "\\'") -%}
    {{- return("'" ~ (escaped | replace('${', '\\u0024{')) ~ "'") -}}
{%- endmacro %}

{# Key and value pairs as in tblproperties and options. #}
{% macro _literal_pairs(pairs) -%}
    {%- set texts = [] -%}
    {%- for key, value in pairs.items() -%}
        {%- do texts.append(dbt_delta._literal(key) ~ ' = ' ~ dbt_delta._literal(dbt_delta._plain(value))) -%}
    {%- endfor -%}
    {{- return('(' ~ texts | join(', ') ~ ')') -}}
{%- endmacro %}

{# A YAML value as Delta writes it: true, not True. #}
{% macro _plain(value) -%}
    {{- return((value | string | lower) if value is boolean else (value | string)) -}}
{%- endmacro %}

{# A config that may be one name or a list of them, as a list of names without backticks. #}
{% macro _names(value) -%}
    {%- set names = [] -%}
    {%- for name in ([] if not value else [value] if value is string else value) -%}
        {%- set bare = name | string | trim or name | string -%}
        {%- if bare | length > 2 and bare[0] == '`' and bare[-1] == '`' -%}
            {%- set bare = bare[1:-1] | replace('``', '`') -%}
        {%- endif -%}
        {%- do names.append(bare) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{# The element of a list of columns with that name, as Spark compares names; none without one. #}
{% macro _column(columns, name) -%}
    {%- for column in columns -%}
        {%- if column.name | lower == name | lower -%}{{- return(column) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{#
    A pattern of what has no structure of its own in SQL: strings, quoted names, comments; for DOTALL.
    Comments may hold comments; in r'..' a backslash is one.
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

{# The tokens of SQL without comments, {text, at, end}; words, which Spark reads in any case, in lower case. #}
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

{# The value of a string literal; Spark is asked what its escapes mean. #}
{% macro _string_value(token) -%}
    {%- if token[:1] in ('r', 'R') -%}{{- return(token[2:-1]) -}}{%- endif -%}
    {%- if '\\' in token -%}{{- return(run_query('select ' ~ token ~ ' as value').rows[0]['value']) -}}{%- endif -%}
    {{- return(token[1:-1] | replace(token[0] * 2, token[0])) -}}
{%- endmacro %}

{# Whether SQL names a column, or a field in it, by its path; a.b is named by a, a.b and a.b.c. #}
{% macro _mentions(sql, path) -%}
    {%- set tokens = dbt_delta._tokens(sql) + [''] -%}
    {%- set steps = path | map('lower') | list -%}
    {%- for n in range(tokens | length - 1) if dbt_delta._name_of(tokens[n]) == steps[0] -%}
        {%- set at = namespace(next=n + 1, is_named=n == 0 or tokens[n - 1] != '.') -%}
        {#- Words before a bracket or a literal are a function's or a type's. -#}
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
    A SELECT that can stand inside a statement: without the semicolons and comments it ends in.
    Ends in a line break, so that a comment on its last line ends there.
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

{# The statements of a text, split at its semicolons; those in strings and comments are none. #}
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
