{#
    CHECK and NOT NULL constraints of the configuration as name: expression. All become CHECK constraints in the
    statement that creates the table: a build that violates one leaves nothing behind. NOT NULL itself needs a list of
    columns, which CREATE TABLE AS does not allow, and Delta always refuses ALTER TABLE .. SET NOT NULL.
#}
{% macro _checks(expectations) -%}
    {%- set checks, unenforced = {}, [] -%}
    {%- set given = config.get('tblproperties') or {} -%}
    {%- for name in dbt_delta._constraint_names(given) -%}
        {%- do checks.update({name | lower: dbt_delta._constraint(given, name) | string}) -%}
    {%- endfor -%}
    {%- for constraint in dbt_delta._promised_constraints() -%}
        {%- if constraint.type == 'not_null' -%}
            {%- for column in constraint.columns -%}
                {%- do dbt_delta._add_check(
                    checks,
                    constraint.name if constraint.columns | length == 1 else none,
                    dbt_delta._check_name('not_null', column),
                    dbt_delta._quoted(column) ~ ' is not null',
                ) -%}
            {%- endfor -%}
        {%- elif constraint.type == 'check' or dbt_delta._custom_check(constraint) -%}
            {%- set expression = dbt_delta._custom_check(constraint) or (constraint.expression or '') | trim -%}
            {%- do dbt_delta._add_check(
                checks, constraint.name, 'check_' ~ local_md5(expression)[:10], expression
            ) -%}
        {%- elif constraint.type == 'custom' -%}
            {%- do dbt_delta._refuse(
                "Constraint " ~ (constraint.name or constraint.expression) ~ " is of type custom; Delta enforces "
                ~ "check and not_null. Write it as one of them."
            ) -%}
        {%- else -%}
            {%- do unenforced.append(constraint) -%}
        {%- endif -%}
    {%- endfor -%}
    {#- CREATE TABLE AS turns them into strings of any length. -#}
    {%- for column in model.columns.values() if config.get('contract', {}).enforced is true -%}
        {%- set type = (column.data_type or '') | lower | replace(' ', '') -%}
        {%- set sized = modules.re.fullmatch('(?:var)?char(?:acter)?\\(([0-9]+)\\)', type) -%}
        {%- if sized -%}
            {%- do dbt_delta._add_check(
                checks, none, dbt_delta._check_name('length', column.name),
                dbt_delta._quoted(column.name) ~ ' is null or length(' ~ dbt_delta._quoted(column.name) ~ ') <= ' ~ sized.group(1),
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name, expression in dbt_delta._enforced_checks(expectations).items() -%}
        {%- do dbt_delta._add_check(checks, name, name, expression) -%}
    {%- endfor -%}
    {#- Only warns, as dbt does: warn_unenforced and warn_unsupported silence it. -#}
    {%- do adapter.render_raw_model_constraints(raw_constraints=unenforced) if unenforced -%}
    {{- return(checks) -}}
{%- endmacro %}

{# The name of the package's own CHECK on a column. #}
{% macro _check_name(kind, column) -%}
    {{- return(
        kind ~ '_' ~ (column | lower if modules.re.match('\\w+$', column) else local_md5(column | lower)[:10])
    ) -}}
{%- endmacro %}

{# The expression of a custom constraint that is a CHECK, or none. #}
{% macro _custom_check(constraint) -%}
    {%- set expression = (constraint.expression or '') if constraint.type == 'custom' else '' -%}
    {%- set tokens = dbt_delta._lexed(expression) -%}
    {%- set texts = tokens | map(attribute='text') | list -%}
    {%- if texts[:2] != ['check', '('] or texts[2:][-1:] != [')'] -%}{{- return(none) -}}{%- endif -%}
    {%- set inner = dbt_delta._inner_sql(expression[tokens[1].end:tokens[-1].at]).strip() -%}
    {#- In (a) and (b) the outer brackets are not a pair. -#}
    {{- return(inner if dbt_delta._is_balanced(inner) else '(' ~ inner ~ ')') -}}
{%- endmacro %}

{% macro _has_constraints() -%}
    {{- return(
        config.get('contract', {}).enforced is true or dbt_delta._flag('persist_constraints')
    ) -}}
{%- endmacro %}

{# Constraints of the model and its columns, each {type, name, expression, columns} and what dbt adds. #}
{% macro _promised_constraints() -%}
    {%- set constraints = [] -%}
    {%- if not dbt_delta._has_constraints() -%}{{- return(constraints) -}}{%- endif -%}
    {%- set legacy = dbt_delta._flag('persist_constraints') -%}
    {%- for column in model.columns.values() -%}
        {%- set meta = (column.get('meta') or {}).get('constraint') if legacy else none -%}
        {%- if meta and meta is string and meta != 'not_null' -%}
            {%- do dbt_delta._refuse(
                'Invalid constraint for column ' ~ column.name ~ ". Only `not_null` is supported. It is '" ~ meta ~ "'."
            ) -%}
        {%- endif -%}
        {%- set of_column = ([{'type': meta} if meta is string else meta] if meta else column.constraints) or [] -%}
        {%- for constraint in of_column -%}
            {%- do constraints.append(dict(constraint, columns=[column.name])) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set meta = (model.get('meta') or {}).get('constraints') if legacy else none -%}
    {%- for constraint in (meta if meta else model.constraints) or [] -%}
        {%- if constraint.get('type') -%}
            {%- do constraints.append(constraint) -%}
        {%- elif not constraint.get('name') -%}
            {%- do dbt_delta._refuse('Invalid check constraint name: ' ~ constraint ~ ' has none.') -%}
        {%- elif not constraint.get('condition') -%}
            {%- do dbt_delta._refuse('Invalid check constraint condition: ' ~ constraint.name ~ ' has none.') -%}
        {%- else -%}
            {%- do constraints.append(
                {'type': 'check', 'name': constraint.name, 'expression': constraint.condition}
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(constraints) -}}
{%- endmacro %}

{% macro _add_check(checks, given_name, own_name, expression) -%}
    {%- set name = (given_name or own_name) | lower -%}
    {%- if not expression -%}
        {%- do dbt_delta._refuse('Constraint ' ~ name ~ ' has no expression.') -%}
    {%- elif checks.get(name, expression) != expression -%}
        {%- do dbt_delta._refuse(
            'Two constraints have the name ' ~ name ~ ': ' ~ checks[name] ~ ', and ' ~ expression ~ '. Rename one.'
        ) -%}
    {%- elif dbt_delta._has_subquery(expression) -%}
        {#- Delta accepts it, and then refuses every write. -#}
        {%- do dbt_delta._refuse(
            'Constraint ' ~ name ~ ' contains a subquery: ' ~ expression ~ '. Delta checks each row by itself. '
            ~ 'Write a dbt test instead.'
        ) -%}
    {%- endif -%}
    {%- do checks.update({name: expression}) -%}
{%- endmacro %}
