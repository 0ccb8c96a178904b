{#
    The expectations of a node on its rows, checked: [{name, expression, action, max_rows, max_percent, is_enforced}].
    Those of the node come first, then those in its `meta`, and in `meta` of its columns. Empty without any.
#}
{% macro _expectations(node) -%}
    {%- set given, found, config = [], [], node.get('config') or {} -%}
    {%- for place in [config, config.get('meta') or {}] -%}
        {%- do given.extend(dbt_delta._listed_expectations(place.get('expectations'), node.name)) -%}
    {%- endfor -%}
    {%- for column in (node.get('columns') or {}).values() -%}
        {%- set meta = (column.get('config') or {}).get('meta') or column.get('meta') or {} -%}
        {%- do given.extend(dbt_delta._listed_expectations(
            meta.get('expectations'), node.name ~ ', column ' ~ column.name
        )) -%}
    {%- endfor -%}
    {%- for entry in given -%}{%- do found.append(dbt_delta._expectation(entry, node.name, found)) -%}{%- endfor -%}
    {%- if found -%}{%- do dbt_delta._check_expecting_node(node, config, found) -%}{%- endif -%}
    {{- return(found) -}}
{%- endmacro %}

{% macro _listed_expectations(given, where) -%}
    {%- if given is none or given is undefined -%}{{- return([]) -}}{%- endif -%}
    {%- if given is string or given is mapping or given is not iterable -%}
        {%- do dbt_delta._refuse(
            'expectations of ' ~ where ~ ' is ' ~ given ~ '. Use a list such as '
            ~ '[{name: positive, expression: amount >= 0, action: quarantine}].'
        ) -%}
    {%- endif -%}
    {{- return(given | list) -}}
{%- endmacro %}

{# One expectation as a record; `known` are those before it. #}
{% macro _expectation(entry, node, known) -%}
    {%- set name = entry.get('name') if entry is mapping else none -%}
    {%- set keys = ['name', 'expression', 'action', 'max_rows', 'max_percent', 'enforce'] -%}
    {%- if name is not string or not modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_]{0,99}', name) -%}
        {%- do dbt_delta._refuse(
            'An expectation of ' ~ node ~ ' is ' ~ entry ~ '. It needs a name of letters, digits and underscores.'
        ) -%}
    {%- endif -%}
    {%- set what = 'Expectation ' ~ name ~ ' of ' ~ node -%}
    {%- for key in entry if key not in keys -%}
        {%- do dbt_delta._refuse(what ~ " has '" ~ key ~ "'. It may have " ~ keys | join(', ') ~ '.') -%}
    {%- endfor -%}
    {%- if name | lower in known | map(attribute='name') | map('lower') | list -%}
        {%- do dbt_delta._refuse(what ~ ' is there twice. Rename one.') -%}
    {%- endif -%}
    {%- set action = entry.get('action') -%}
    {%- do dbt_delta._check_choice(what ~ ': action', action, ['warn', 'drop', 'quarantine', 'fail']) -%}
    {%- set limits = {} -%}
    {%- for key in ('max_rows', 'max_percent') if entry.get(key) is not none -%}
        {%- if action != 'fail' -%}
            {%- do dbt_delta._refuse(
                what ~ ' has ' ~ key ~ ' and action ' ~ action ~ ". Only 'fail' has a limit: add another expectation "
                ~ "with the same expression and action 'fail'."
            ) -%}
        {%- endif -%}
        {%- do limits.update({key: dbt_delta._limit(what ~ ': ' ~ key, key, entry[key])}) -%}
    {%- endfor -%}
    {%- do dbt_delta._check_choice(what ~ ': enforce', entry.get('enforce'), [none, 'table']) -%}
    {%- if entry.get('enforce') and (action == 'warn' or limits) -%}
        {%- do dbt_delta._refuse(
            what ~ ' has enforce: table, but lets rows through ('
            ~ ('action warn' if action == 'warn' else limits.keys() | join(', ')) ~ '). Remove one of them.'
        ) -%}
    {%- endif -%}
    {{- return({
        'name': name, 'expression': dbt_delta._row_expression(entry.get('expression'), what), 'action': action,
        'max_rows': limits.get('max_rows'), 'max_percent': limits.get('max_percent'),
        'is_enforced': entry.get('enforce') is not none,
    }) -}}
{%- endmacro %}

{% macro _limit(what, key, value) -%}
    {%- set text = value | string | trim -%}
    {%- set is_number = value is not boolean and modules.re.fullmatch('[0-9]{1,12}([.][0-9]+)?', text) is not none -%}
    {%- if key == 'max_rows' and (not is_number or '.' in text) -%}
        {%- do dbt_delta._refuse(what ~ ' is ' ~ value ~ '. Use a whole number of rows from 0.') -%}
    {%- elif key == 'max_percent' and (not is_number or text | float > 100) -%}
        {%- do dbt_delta._refuse(what ~ ' is ' ~ value ~ '. Use a number from 0 to 100.') -%}
    {%- endif -%}
    {{- return(text | int if key == 'max_rows' else text | float) -}}
{%- endmacro %}

{# The expression on one row, without comments around it. #}
{% macro _row_expression(given, what) -%}
    {%- set expression = dbt_delta._inner_sql(given | string).strip() if given is not none else '' -%}
    {%- if not expression -%}
        {%- do dbt_delta._refuse(what ~ ' has no expression. Use a condition on one row, such as amount >= 0.') -%}
    {%- elif not dbt_delta._is_balanced(expression) -%}
        {%- do dbt_delta._refuse(what ~ ': the brackets of ' ~ expression ~ ' do not match. Correct it.') -%}
    {%- elif dbt_delta._has_subquery(expression) -%}
        {%- do dbt_delta._refuse(
            what ~ ' has a subquery: ' ~ expression ~ '. An expectation looks at one row. Write a data test, or join '
            ~ 'in the model.'
        ) -%}
    {%- endif -%}
    {{- return(expression) -}}
{%- endmacro %}

{# Refuses nodes that cannot keep expectations, and a quarantine with the name of another node. #}
{% macro _check_expecting_node(node, config, found) -%}
    {%- set kind = config.get('materialized') -%}
    {%- set what = 'Expectation ' ~ found[0].name ~ ' of ' ~ node.name -%}
    {%- if kind == 'ephemeral' -%}
        {%- do dbt_delta._refuse(what ~ ': an ephemeral model has no table. Make it a view or a table.') -%}
    {%- elif (config.get('file_format') or dbt_delta._target_format()) | lower != dbt_delta._target_format()
        and kind != 'view' -%}
        {%- do dbt_delta._refuse(
            what ~ ' needs file_format ' ~ dbt_delta._target_format() ~ '; it is ' ~ config.get('file_format') ~ '.'
        ) -%}
    {%- elif kind == 'view' and found | selectattr('is_enforced') | list -%}
        {%- do dbt_delta._refuse(
            'Expectation ' ~ (found | selectattr('is_enforced') | first).name ~ ' of ' ~ node.name
            ~ ' has enforce: table, but a view has no constraints. Remove it.'
        ) -%}
    {%- elif config.get('not_matched_by_source_action') and dbt_delta._diverting(found) -%}
        {%- do dbt_delta._refuse(
            'Expectation ' ~ dbt_delta._diverting(found)[0] ~ ' of ' ~ node.name ~ ' leaves rows out, and '
            ~ 'not_matched_by_source_action would take their keys for deleted. Remove one of them, or use action fail.'
        ) -%}
    {%- endif -%}
    {%- set name = (node.alias ~ '__quarantine') | lower -%}
    {%- for other in graph.nodes.values() if (other.get('alias') or '') | lower == name
        and other.schema | lower == node.schema | lower
        and other.resource_type in ('model', 'seed', 'snapshot') -%}
        {%- do dbt_delta._refuse(
            what ~ ': its quarantine ' ~ node.schema ~ '.' ~ name ~ ' has the name of ' ~ other.unique_id
            ~ '. Rename one of them.'
        ) -%}
    {%- endfor -%}
{%- endmacro %}

{# Refuses an ephemeral model with expectations behind a node: it has no materialization that could. #}
{% macro _check_ephemeral_inputs(node) -%}
    {%- for id in (node.get('depends_on') or {}).get('nodes') or [] -%}
        {%- set input = graph.nodes.get(id) -%}
        {%- do dbt_delta._expectations(input) if input and input.config.materialized == 'ephemeral' -%}
    {%- endfor -%}
{%- endmacro %}

{# Names of the expectations whose rows do not reach the table: those with one of the actions. #}
{% macro _diverting(expectations, actions=('drop', 'quarantine')) -%}
    {%- set names = [] -%}
    {%- for one in expectations if one.action in actions -%}{%- do names.append(one.name) -%}{%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{% macro _quarantine_of(relation) -%}
    {{- return(api.Relation.create(
        schema=relation.schema, identifier=relation.identifier ~ '__quarantine', type='table'
    )) -}}
{%- endmacro %}

{# The columns that a quarantine adds to those of its table. #}
{% macro _quarantine_names() -%}{{- return(['_expectations', '_invocation_id', '_quarantined_at']) -}}{%- endmacro %}

{# The CHECK constraints of expectations with enforce: table, {name: expression}; NULL breaks them, too. #}
{% macro _enforced_checks(expectations) -%}
    {%- set checks = {} -%}
    {%- for one in expectations if one.is_enforced -%}
        {%- do checks.update({'expect_' ~ (one.name | lower): 'coalesce(' ~ one.expression ~ ', false)'}) -%}
    {%- endfor -%}
    {{- return(checks) -}}
{%- endmacro %}

{#
    The condition on a row of the SELECT that says that a row of the table is deleted, or none. Refuses one that reads
    the table beside expectations that leave rows out: a deletion would be left out, too.
#}
{% macro _deletion_of(expectations) -%}
    {%- set condition = config.get('matched_delete_condition') -%}
    {%- if config.get('incremental_strategy') == 'changes' -%}
        {{- return("`_change_type` = 'delete'") -}}
    {%- elif config.get('cdc_delete_when') -%}
        {{- return('(' ~ config.get('cdc_delete_when') ~ '\n) is true') -}}
    {%- elif not condition -%}
        {{- return(none) -}}
    {%- elif not dbt_delta._mentions(condition | string, [dbt_delta._target_alias()]) -%}
        {{- return('(' ~ dbt_delta._without_alias(condition | string, dbt_delta._source_alias()) ~ '\n) is true') -}}
    {%- elif dbt_delta._diverting(expectations) -%}
        {%- do dbt_delta._refuse(
            'Expectation ' ~ dbt_delta._diverting(expectations)[0] ~ ' of ' ~ model.name ~ ' leaves rows out, and with them '
            ~ 'deletions: matched_delete_condition reads the table. Let it read the batch alone, or use action fail.'
        ) -%}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}

{# SQL in which columns are named without the alias of their rows. #}
{% macro _without_alias(sql, alias) -%}
    {%- set texts, at, tokens = [], namespace(end=0), dbt_delta._lexed(sql) -%}
    {%- for token in tokens if token.text | replace('`', '') == alias | lower -%}
        {%- set n = tokens.index(token) -%}
        {%- if tokens[n + 1:] and tokens[n + 1].text == '.' and (n == 0 or tokens[n - 1].text != '.') -%}
            {%- do texts.append(sql[at.end:token.at]) -%}
            {%- set at.end = tokens[n + 1].end -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(texts | join ~ sql[at.end:]) -}}
{%- endmacro %}

{# The same on the rows of a batch that has deletions: such a row keeps all of them. #}
{% macro _of_images(expectations) -%}
    {%- set deletion, found = dbt_delta._deletion_of(expectations), [] -%}
    {%- if deletion is none -%}{{- return(expectations) -}}{%- endif -%}
    {%- for one in expectations -%}
        {%- if one.action == 'quarantine' and config.get('incremental_strategy') == 'changes' -%}
            {%- do dbt_delta._refuse(
                'Expectation ' ~ one.name ~ ' of ' ~ model.name ~ ' has action quarantine, which does not know what a later '
                ~ 'change makes of its rows. With incremental_strategy changes use warn, drop or fail.'
            ) -%}
        {%- endif -%}
        {%- do found.append(dict(one, expression=deletion ~ ' or (' ~ one.expression ~ '\n)')) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}
