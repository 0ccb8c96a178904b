{#
    What differs between two versions of a table, two relations, or the models of two schemas: counts,
    columns and samples, in the terminal, as JSON or as Markdown.
#}
{% macro diff(
    model=none, from='previous', to=none, a=none, b=none, schema_a=none, schema_b=none, select=none, state=none,
    unique_key=none, exclude_columns=[], tolerance={}, limit=10, fail_if=none, output='text'
) -%}
    {%- set ways = [] -%}
    {%- for way in (model, a or b, schema_a or schema_b) if way -%}{%- do ways.append(way) -%}{%- endfor -%}
    {%- if ways | length != 1 or (a is none) != (b is none) or (schema_a is none) != (schema_b is none) -%}
        {%- do dbt_delta._refuse(
            "diff takes one of {model: orders, from: previous}, {a: prod.orders, b: ci.orders} and "
            ~ '{schema_a: prod, schema_b: ci}.'
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._check_choice('diff: output', output, ['text', 'json', 'markdown']) -%}
    {%- set options = {
        'unique_key': unique_key, 'exclude_columns': exclude_columns, 'tolerance': tolerance, 'limit': limit,
    } -%}
    {%- if schema_a -%}
        {%- set nodes = dbt_delta._selected_nodes(select, state, 'diff') -%}
        {%- set reports = dbt_delta._diff_schemas(nodes, schema_a, schema_b, options) -%}
    {%- else -%}
        {%- set reports = [
            dbt_delta._diff_of_versions(model, from, to, options) if model
            else dbt_delta._diff_of_relations(
                dbt_delta._relation_to_diff(a), dbt_delta._relation_to_diff(b), options
            )
        ] -%}
    {%- endif -%}
    {%- if output == 'json' -%}
        {%- do print(tojson(reports if schema_a else reports[0])) -%}
    {%- elif output == 'markdown' -%}
        {%- do print(dbt_delta._diff_markdown(reports)) -%}
    {%- else -%}
        {%- do dbt_delta._print_diffs(reports) -%}
    {%- endif -%}
    {%- if fail_if is not none -%}{%- do dbt_delta._fail_if(fail_if, reports) -%}{%- endif -%}
{%- endmacro %}

{% macro _diff_of_versions(model, from, to, options) -%}
    {%- set relation = dbt_delta._relation_named(model, 'diff') -%}
    {%- do dbt_delta._delta_table(relation, 'diff') -%}
    {%- set sides = dbt_delta._version_sides(relation, from, to, 'diff') -%}
    {{- return(dbt_delta._diff_report(dict(
        sides, name=dbt_delta._bare(relation),
        before_name='version ' ~ sides.from_version, after_name='version ' ~ sides.to_version,
    ), [relation], options)) -}}
{%- endmacro %}

{% macro _relation_to_diff(name) -%}
    {%- set relation = dbt_delta._relation_named(name, 'diff') -%}
    {%- if not dbt_delta._is_there(relation, dbt_delta._schemas()) -%}
        {%- do dbt_delta._refuse('diff: ' ~ dbt_delta._named(relation) ~ ' is not in the catalog.') -%}
    {%- endif -%}
    {{- return(relation) -}}
{%- endmacro %}

{% macro _diff_of_relations(a, b, options) -%}
    {%- set names = [dbt_delta._bare(a), dbt_delta._bare(b)] -%}
    {{- return(dbt_delta._diff_report({
        'before': dbt_delta._named(a), 'after': dbt_delta._named(b), 'rows': {'kind': 'all'},
        'name': names[1], 'before_name': names[0], 'after_name': names[1],
    }, [b, a], options)) -}}
{%- endmacro %}

{#
    Nodes in two schemas. dbt names a custom schema by the target's schema, _ and a suffix: the given schema gets the
    same suffix.
#}
{% macro _diff_schemas(nodes, schema_a, schema_b, options) -%}
    {%- set reports, schemas = [], dbt_delta._schemas() -%}
    {%- for node in nodes -%}
        {%- set custom = node.schema[target.schema | length:] if node.schema.startswith(target.schema ~ '_') else '' -%}
        {%- set a = api.Relation.create(schema=schema_a ~ custom, identifier=node.alias) -%}
        {%- set b = api.Relation.create(schema=schema_b ~ custom, identifier=node.alias) -%}
        {%- set has_a, has_b = dbt_delta._is_there(a, schemas), dbt_delta._is_there(b, schemas) -%}
        {%- if has_a and has_b -%}
            {%- set report = dbt_delta._diff_of_relations(a, b, options) -%}
            {%- do reports.append(dict(
                report, name=node.name, note='' if report.unique_key else 'no unique_key'
            )) -%}
        {%- else -%}
            {%- set before = dbt_delta._row_count(dbt_delta._named(a)) if has_a else none -%}
            {%- set after = dbt_delta._row_count(dbt_delta._named(b)) if has_b else none -%}
            {%- do reports.append({
                'rows_before': before, 'rows_after': after, 'added': after or 0, 'removed': before or 0, 'changed': 0,
                'columns': {}, 'schema': [], 'samples': [], 'unique_key': [], 'found_by': 'none', 'name': node.name,
                'before': dbt_delta._bare(a), 'after': dbt_delta._bare(b),
                'note': 'in neither schema' if not has_a and not has_b
                    else 'only in ' ~ (schema_a if has_a else schema_b),
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(reports) -}}
{%- endmacro %}
