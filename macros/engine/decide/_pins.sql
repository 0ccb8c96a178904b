{#
    The old versions that views read, from their texts. A pin is {who, table, zone} and one of `version`, `times`
    (texts: the first that Spark accepts is the time), or `feed` (the same for the beginning of a change feed).
    `unknown` is the reason if the text reads an old version of an unknown table. _with_times adds `at`, the time in
    milliseconds or none, and `taken`, its text.
#}

{#
    A pin, with the id of the `table`, for each table that a view reads at an old version; if that is not known, a pin
    for every table.
#}
{% macro _view_pins(view, tables) -%}
    {%- set pins = [] -%}
    {%- set travels = [{'name': none}] if view.text is none else dbt_delta._time_travels(view.text) -%}
    {%- for travel in travels -%}
        {%- set unknown = {} if travel.name is not none
            else {'unknown': 'has a text that the server does not show' if view.text is none
                else 'reads an old version of a table that its text does not name'} -%}
        {%- set named = tables.values() | list if travel.name is none
            else dbt_delta._tables_named(travel.name, view.namespace, tables) -%}
        {%- for table in named -%}
            {%- do pins.append(dict(
                travel, table=table.id, who='view ' ~ view.schema ~ '.' ~ view.name, zone=view.zone, **unknown
            )) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(pins) -}}
{%- endmacro %}

{# The tables, by schema and name, that a name in a view of this schema means: a table's name, or a path. #}
{% macro _tables_named(parts, namespace, tables) -%}
    {%- set schema, name = parts[-2] if parts | length > 1 else namespace, parts[-1] -%}
    {%- set key = (schema | string | lower, name | lower) -%}
    {%- if key in tables -%}{{- return([tables[key]]) -}}{%- endif -%}
    {%- set found = [] -%}
    {%- for known, table in tables.items() -%}
        {%- if (schema is none and known[1] == key[1])
            or (parts | length > 1 and '/' in name and dbt_delta._is_at(table.location, name)) -%}
            {%- do found.append(table) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# Whether a path is a table's, or of a folder in it; a path without a file system may be in any. #}
{% macro _is_at(location, path) -%}
    {%- set bare = '^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?' -%}
    {%- set texts = [dbt_delta._plain_location(location), dbt_delta._plain_location(path)] -%}
    {%- if not modules.re.match(bare, path) -%}
        {%- set texts = [modules.re.sub(bare, '', texts[0]), texts[1]] -%}
    {%- endif -%}
    {%- set at = modules.re.sub('/+', '/', texts[0]) -%}
    {%- set path = modules.re.sub('/+', '/', texts[1]) -%}
    {{- return((path ~ '/').startswith(at ~ '/') or (path[:1] != '/' and at.endswith('/' ~ path))) -}}
{%- endmacro %}

{# Whether _time_travels may find something in a text. #}
{% macro _may_travel(text) -%}
    {{- return(modules.re.search('(?i)\\bof\\b|\\bwith\\s*[(/-]|table_changes|@[v0-9]', text) is not none) -}}
{%- endmacro %}

{# The old versions that SQL reads: pins with the `name` of the table in steps, or none if it is not known. #}
{% macro _time_travels(sql) -%}
    {%- set found = [] -%}
    {%- if not dbt_delta._may_travel(sql) -%}{{- return(found) -}}{%- endif -%}
    {%- set tokens = dbt_delta._lexed(sql) -%}
    {%- set words = tokens | map(attribute='text') | list + [''] * 5 -%}
    {%- for n in range(tokens | length) -%}
        {%- set word = words[n] -%}
        {%- if words[n + 1:n + 3] == ['as', 'of']
            and word in ('version', 'system_version', 'timestamp', 'system_time') -%}
            {%- do found.extend(dbt_delta._travel_by_clause(sql, tokens, words, n)) -%}
        {%- elif word == 'with' and words[n + 1] == '(' -%}
            {%- do found.extend(dbt_delta._travel_by_options(words, n)) -%}
        {%- elif words[n + 1] == '(' and dbt_delta._name_of(word) in ('table_changes', 'table_changes_by_path') -%}
            {%- do found.append(dbt_delta._travel_by_feed(sql, tokens, words, n)) -%}
        {%- elif word[0] in '`"' and modules.re.search('@(v[0-9]+|[0-9]{17}).$', word) -%}
            {%- do found.append(dbt_delta._travel_by_name(words, n)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# t version as of 3, t for system_time as of ..; an alias that looks like this has no name or no value. #}
{% macro _travel_by_clause(sql, tokens, words, n) -%}
    {%- set end = n - 1 if n > 1 and words[n - 1] == 'for' and words[n - 2] != '.' else n -%}
    {%- set last, value = words[end - 1], words[n + 3] -%}
    {%- if last in ('select', 'distinct', 'all') or not modules.re.match('[\\w`")]', last) -%}
        {{- return([]) -}}
    {%- endif -%}
    {%- set name = dbt_delta._name_before(words, end) -%}
    {%- if 'time' in words[n] -%}
        {{- return([{'name': name, 'times': dbt_delta._expressions(sql, tokens, words, n + 3)}]) -}}
    {%- elif modules.re.fullmatch('[0-9]+', value) -%}
        {{- return([{'name': name, 'version': value}]) -}}
    {%- endif -%}
    {%- set text = dbt_delta._string_at(words, n + 3) -%}
    {{- return([] if text is none else [{'name': name, 'version': text}]) -}}
{%- endmacro %}

{# t with ('versionAsOf' = '3') #}
{% macro _travel_by_options(words, n) -%}
    {%- set kinds = {
        'versionasof': 'version', 'timestampasof': 'times', 'startingversion': 'feed', 'startingtimestamp': 'feed',
    } -%}
    {%- set found, at = [], namespace(key='', given=[], is_open=true) -%}
    {%- for word in words[n + 2:] if at.is_open and word != '=' -%}
        {%- if word in (',', ')', '') -%}
            {%- set kind = kinds.get(at.key | lower) -%}
            {%- if kind is not none -%}
                {%- set value = at.given | join(' ') -%}
                {%- set plain = dbt_delta._string_at(at.given + [''], 0) if at.given else none -%}
                {%- set plain = value if plain is none and modules.re.fullmatch('[0-9]+', value) else plain -%}
                {%- do found.append({
                    'name': none if plain is none else dbt_delta._name_before(words, n),
                    kind: plain if kind == 'version' else [plain if 'version' in at.key | lower else value],
                }) -%}
            {%- endif -%}
            {%- set at.key, at.given, at.is_open = '', [], word == ',' -%}
        {%- elif at.key | lower in kinds -%}
            {%- set at.given = at.given + [word] -%}
        {%- else -%}
            {%- set at.key = at.key ~ (dbt_delta._string_at([word, ''], 0) or dbt_delta._unquoted(word)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# table_changes('t', 3) #}
{% macro _travel_by_feed(sql, tokens, words, n) -%}
    {%- set table = dbt_delta._string_at(words, n + 2) -%}
    {%- if table is none or words[n + 3] != ',' -%}{{- return({'name': none}) -}}{%- endif -%}
    {%- set is_path = dbt_delta._name_of(words[n]) == 'table_changes_by_path' -%}
    {{- return({
        'name': ['delta', table] if is_path else dbt_delta._path_steps(table),
        'feed': dbt_delta._expressions(sql, tokens, words, n + 4),
    }) -}}
{%- endmacro %}

{# The value of the string literals that begin at a word; Spark joins adjacent ones. None without a literal. #}
{% macro _string_at(words, n) -%}
    {%- set at = namespace(text=none, is_over=false) -%}
    {%- for word in words[n:] -%}
        {%- set at.is_over = at.is_over or word[-1:] not in ('"', "'") -%}
        {%- if not at.is_over -%}{%- set at.text = (at.text or '') ~ dbt_delta._string_value(word) -%}{%- endif -%}
    {%- endfor -%}
    {{- return(at.text) -}}
{%- endmacro %}

{% macro _unquoted(word) -%}
    {{- return(word[1:-1] | replace(word[0] * 2, word[0]) if word[0] in '`"' else word) -}}
{%- endmacro %}

{# delta.`/path@v3`, or a time of 17 digits #}
{% macro _travel_by_name(words, n) -%}
    {%- set name = dbt_delta._name_before(words, n + 1) -%}
    {%- set last, _, at = name[-1].rpartition('@') -%}
    {%- set name = name[:-1] + [last] -%}
    {%- if at[0] == 'v' -%}{{- return({'name': name, 'version': at[1:]}) -}}{%- endif -%}
    {%- set day, time = [at[:4], at[4:6], at[6:8]] | join('-'), [at[8:10], at[10:12], at[12:14]] | join(':') -%}
    {{- return({'name': name, 'times': ["'" ~ day ~ ' ' ~ time ~ '.' ~ at[14:] ~ "'"]}) -}}
{%- endmacro %}

{# The steps of the name that ends before a word, or none. #}
{% macro _name_before(words, end) -%}
    {%- if end > 3 and words[end - 4] == 'identifier' and words[end - 3] == '(' and words[end - 1] == ')'
        and words[end - 2][-1] in '"\'' -%}
        {{- return(dbt_delta._path_steps(dbt_delta._string_value(words[end - 2]))) -}}
    {%- endif -%}
    {%- set at = namespace(next=end - 1, steps=[]) -%}
    {%- for _ in range(5) -%}
        {%- if at.next is not none -%}
            {%- set word = words[at.next] -%}
            {%- if not modules.re.match('[\\w`"]', word) -%}{{- return(none) -}}{%- endif -%}
            {%- set at.steps = [dbt_delta._unquoted(word)] + at.steps -%}
            {%- set at.next = at.next - 2 if at.next > 1 and words[at.next - 1] == '.' else none -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(at.steps) -}}
{%- endmacro %}

{#
    Candidates for the expression that begins with a token: up to the next clause, and the same without an alias at
    its end. None if it reads a table, because another session may resolve its name differently.
#}
{% macro _expressions(sql, tokens, words, start) -%}
    {%- set stops = [
        '', ',', ';', 'as', 'where', 'group', 'order', 'having', 'limit', 'offset', 'join', 'inner', 'left', 'right',
        'full', 'cross', 'natural', 'anti', 'semi', 'on', 'using', 'union', 'except', 'intersect', 'minus', 'lateral',
        'tablesample', 'pivot', 'unpivot', 'window', 'qualify', 'cluster', 'distribute', 'sort', 'with',
    ] -%}
    {%- set at = namespace(opened=[], end=start, alias=start, is_over=false) -%}
    {%- for n in range(start, tokens | length) if not at.is_over -%}
        {%- set word = words[n] -%}
        {%- set is_closing = word in (')', ']') -%}
        {%- set is_pipe = word == '|' and words[n + 1] == '>' -%}
        {%- if not at.opened and (is_closing or is_pipe or word in stops) -%}
            {%- set at.is_over = true -%}
        {%- else -%}
            {%- set at.end, at.alias = n + 1, (at.opened[-1] - 1 if is_closing else n) -%}
            {%- if is_closing -%}{%- do at.opened.pop() -%}{%- endif -%}
            {%- if word in ('(', '[') -%}{%- do at.opened.append(n) -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for word in ('select', 'from', 'table') if word in words[start:at.end] -%}{{- return([]) -}}{%- endfor -%}
    {%- set texts = [] -%}
    {%- for end in (at.end, at.alias) if end > start -%}
        {%- do texts.append(sql[tokens[start].at:tokens[end - 1].end]) -%}
    {%- endfor -%}
    {{- return(texts) -}}
{%- endmacro %}
