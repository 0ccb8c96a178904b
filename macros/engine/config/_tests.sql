{#
    The selected tests that one scan of their table can answer, by the id of what they test, as
    _countable_test has them. A test that is selected without others of its table is not among them.
#}
{% macro _countable_tests() -%}
    {%- set known = dbt_delta._memory('tests') -%}
    {%- if 'countable' not in known -%}
        {%- set found, several = {}, {} -%}
        {%- for id in (selected_resources if dbt_delta._is_true(var('dbt_delta_fused_tests', true)) else []) -%}
            {%- set node = graph.nodes.get(id, {}) -%}
            {%- set test = dbt_delta._countable_test(node) if node.get('test_metadata') else none -%}
            {%- if test is not none -%}{%- do found.setdefault(test.of, []).append(test) -%}{%- endif -%}
        {%- endfor -%}
        {%- for id, tests in found.items() if tests | length > 1 -%}
            {%- do several.update({id: tests | sort(attribute='id')}) -%}
        {%- endfor -%}
        {%- do known.update({'countable': several}) -%}
    {%- endif -%}
    {{- return(known.countable) -}}
{%- endmacro %}

{#
    A generic test of dbt or of this package as {id, of (what it tests), kind, column, where, allowed, quote,
    min, max}; none where the number of its failing rows says less than its own SQL would, or where that SQL
    could give another number later although the table is the same.
#}
{% macro _countable_test(node) -%}
    {%- set kwargs, config = node.test_metadata.kwargs, node.config -%}
    {%- set kind = node.test_metadata.name -%}
    {%- set known = {
        'not_null': ['column_name'], 'unique': ['column_name'],
        'accepted_values': ['column_name', 'values', 'quote'], 'row_count_between': ['min', 'max'],
    }.get(kind) -%}
    {%- if known is none or kwargs.keys() | reject('in', known + ['model']) | list
        or (kind != 'row_count_between' and kwargs.get('column_name') is not string)
        or (kind == 'accepted_values' and (kwargs.get('values') is string or kwargs.get('values') is not sequence))
        or node.depends_on.nodes | length != 1 or not node.config.get('enabled', true)
        or config.get('store_failures') or config.get('limit') is not none or config.get('sql_header')
        or (config.fail_calc | lower | replace(' ', '')) != 'count(*)'
        or dbt_delta._holds_for_zero(config.warn_if) or dbt_delta._holds_for_zero(config.error_if) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set test = {
        'id': node.unique_id, 'of': node.depends_on.nodes[0], 'kind': kind,
        'column': kwargs.get('column_name'), 'where': config.get('where') or none,
        'allowed': kwargs.get('values'), 'quote': kwargs.get('quote', true),
        'min': kwargs.get('min'), 'max': kwargs.get('max'),
    } -%}
    {%- for text in dbt_delta._texts_of_test(test) if not dbt_delta._is_plain_expression(text) -%}
        {{- return(none) -}}
    {%- endfor -%}
    {#- dbt compares with these after it has grouped: a name of a column is unknown there. -#}
    {%- for text in (dbt_delta._texts_of_test(dict(test, column=none, where=none)) if kind == 'accepted_values' else [])
        if not dbt_delta._is_literal_text(text) -%}
        {{- return(none) -}}
    {%- endfor -%}
    {#- Of the rows that `where` leaves, dbt's SQL knows the table's name no more. -#}
    {%- if test.where and test.column and '.' in dbt_delta._tokens(test.column) -%}{{- return(none) -}}{%- endif -%}
    {{- return(test) -}}
{%- endmacro %}

{# The texts of a test that come from its YAML, as they stand in its SQL. #}
{% macro _texts_of_test(test) -%}
    {%- set texts = [] -%}
    {%- for text in [test.column, test.where, test.min, test.max] if text is not none -%}
        {%- do texts.append(text | string) -%}
    {%- endfor -%}
    {%- for value in test.allowed or [] -%}
        {%- do texts.append("'" ~ value ~ "'" if test.quote else value | string) -%}
    {%- endfor -%}
    {{- return(texts) -}}
{%- endmacro %}

{# Whether a text is one literal; not all that Spark knows. #}
{% macro _is_literal_text(text) -%}
    {{- return(modules.re.fullmatch(
        "(?is)\\s*(true|false|null|[-+]?[0-9]+([.][0-9]+)?|(date|timestamp(_ntz)?)?\\s*'([^'\\\\]|'')*')\\s*", text
    ) is not none) -}}
{%- endmacro %}

{# Whether a threshold such as `> 10` holds for 0; what is not a comparison with a number may. #}
{% macro _holds_for_zero(threshold) -%}
    {%- set found = modules.re.fullmatch('\\s*(=|==|!=|<>|<|<=|>|>=)\\s*([0-9]{1,18})\\s*', threshold | string) -%}
    {%- if not found -%}{{- return(true) -}}{%- endif -%}
    {%- set operator, number = found.group(1), found.group(2) | int -%}
    {{- return(
        (operator in ('=', '==', '<=', '>=') and number == 0) or (operator in ('!=', '<>', '<', '<=') and number > 0)
    ) -}}
{%- endmacro %}

{#
    Whether a text is one expression that reads nothing but the row, and gives the same whenever it is asked:
    its brackets close, its functions are known, and it has no comment, clock, query or clause.
#}
{% macro _is_plain_expression(text) -%}
    {%- set functions, clauses = dbt_delta._plain_functions(), dbt_delta._clauses() -%}
    {%- set open = [] -%}
    {%- set last = namespace(text='', end=0) -%}
    {%- for lexed in dbt_delta._lexed(text) -%}
        {%- set token = lexed.text -%}
        {#- Between tokens the lexer leaves blanks and comments out. -#}
        {%- if text[last.end:lexed.at].strip() -%}{{- return(false) -}}{%- endif -%}
        {%- if token in ('(', '[') -%}
            {%- if token == '(' and modules.re.search('[\\w`]$', last.text) and last.text not in functions -%}
                {{- return(false) -}}
            {%- endif -%}
            {%- do open.append(')' if token == '(' else ']') -%}
        {%- elif token in (')', ']') -%}
            {%- if not open or open.pop() != token -%}{{- return(false) -}}{%- endif -%}
        {%- elif token in clauses or (token == ',' and not open) or (last.text ~ token) == '|>'
            or modules.re.search('^current_|^[\'"rR].*\\b(now|today|tomorrow|yesterday)\\b', token | lower)
            or not modules.re.search('(?s)^\\w+$|^[-+*/%=<>!|&^~.,]$|^[rR]?(\'|").*\\1$|^`.+`$', token) -%}
            {{- return(false) -}}
        {%- endif -%}
        {%- set last.text, last.end = token, lexed.end -%}
    {%- endfor -%}
    {{- return(last.text != '' and not open and text[last.end:].strip() == '') -}}
{%- endmacro %}

{# What may stand before a bracket: functions whose result hangs on their arguments alone, and operators. #}
{% macro _plain_functions() -%}
    {{- return((
        'in and or not is between like ilike rlike case when then else cast try_cast coalesce nullif ifnull nvl if'
        ~ ' isnull isnotnull isnan abs round floor ceil mod sign greatest least lower upper trim ltrim rtrim length'
        ~ ' char_length substring substr left right concat concat_ws replace startswith endswith contains regexp_like'
        ~ ' md5 sha1 sha2 hash xxhash64 year quarter month day hour minute second to_date date date_trunc trunc'
        ~ ' date_add date_sub datediff size cardinality array array_contains element_at struct named_struct'
        ~ ' tinyint smallint int bigint float double decimal string boolean timestamp'
    ).split(' ')) -}}
{%- endmacro %}

{# Words, unless they are quoted, of what is more than an expression on a row. #}
{% macro _clauses() -%}
    {{- return((
        'select from table values with where group order sort cluster distribute having limit offset union intersect'
        ~ ' except minus window over qualify join lateral pivot unpivot tablesample exists as user session_user'
        ~ ' localtimestamp now _metadata'
    ).split(' ')) -}}
{%- endmacro %}

{# The relation of a node or source, as ref() and source() give it; none of a view and the like. #}
{% macro _tested_table(id) -%}
    {%- set node = graph.nodes.get(id) or graph.sources.get(id) -%}
    {%- if not node or node.get('config', {}).get('materialized') in ('view', 'ephemeral') -%}
        {{- return(none) -}}
    {%- endif -%}
    {{- return(api.Relation.create(schema=node.schema, identifier=node.get('alias') or node.identifier)) -}}
{%- endmacro %}
