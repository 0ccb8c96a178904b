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
    {%- elif output not in ('text', 'json', 'markdown') -%}
        {%- do dbt_delta._refuse("diff has output '" ~ output ~ "'. It is one of text, json, markdown.") -%}
    {%- endif -%}
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
    {%- do sides.update({
        'name': dbt_delta._bare(relation),
        'before_name': 'version ' ~ sides.from_version,
        'after_name': 'version ' ~ sides.to_version,
    }) -%}
    {{- return(dbt_delta._diff_report(sides, [relation], options)) -}}
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
    Nodes in two schemas. A schema of the target's own name with something after it, as dbt names
    custom schemas, becomes the given one with the same after it.
#}
{% macro _diff_schemas(nodes, schema_a, schema_b, options) -%}
    {%- set reports, schemas = [], dbt_delta._schemas() -%}
    {%- for node in nodes -%}
        {%- set custom = node.schema[target.schema | length:] if node.schema.startswith(target.schema) else '' -%}
        {%- set a = api.Relation.create(schema=schema_a ~ custom, identifier=node.alias) -%}
        {%- set b = api.Relation.create(schema=schema_b ~ custom, identifier=node.alias) -%}
        {%- set has_a, has_b = dbt_delta._is_there(a, schemas), dbt_delta._is_there(b, schemas) -%}
        {%- if has_a and has_b -%}
            {%- set report = dbt_delta._diff_of_relations(a, b, options) -%}
            {%- do report.update({'note': '' if report.unique_key else 'no unique_key'}) -%}
        {%- else -%}
            {%- set before = dbt_delta._row_count(dbt_delta._named(a)) if has_a else none -%}
            {%- set after = dbt_delta._row_count(dbt_delta._named(b)) if has_b else none -%}
            {%- set report = {
                'rows_before': before, 'rows_after': after, 'added': after or 0, 'removed': before or 0, 'changed': 0,
                'columns': {}, 'schema': [], 'samples': [], 'unique_key': [], 'found_by': 'none',
                'before': dbt_delta._bare(a), 'after': dbt_delta._bare(b),
                'note': 'in neither schema' if not has_a and not has_b
                    else 'only in ' ~ (schema_a if has_a else schema_b),
            } -%}
        {%- endif -%}
        {%- do report.update({'name': node.name}) -%}
        {%- do reports.append(report) -%}
    {%- endfor -%}
    {{- return(reports) -}}
{%- endmacro %}

{# The node of the project whose table this is, in whatever schema; none without one. #}
{% macro _node_of(relation) -%}
    {%- set of_name = [] -%}
    {%- for node in dbt_delta._table_nodes(views=true) if node.alias | lower == relation.identifier | lower -%}
        {%- if node.schema | lower == relation.schema | lower -%}{{- return(node) -}}{%- endif -%}
        {%- do of_name.append(node) -%}
    {%- endfor -%}
    {{- return(of_name[0] if of_name | length == 1 else none) -}}
{%- endmacro %}

{#
    Everything that an output shows of one comparison of these relations. Its rows are found once and kept in
    Spark's cache until they are counted.
#}
{% macro _diff_report(sides, relations, options) -%}
    {%- set key, masked, nodes = options.unique_key, [], [] -%}
    {%- for relation in relations -%}
        {%- do masked.extend(dbt_delta._masked_columns(relation)) -%}
        {%- do nodes.append(dbt_delta._node_of(relation)) -%}
    {%- endfor -%}
    {%- set node = nodes | select | first | default(none) -%}
    {%- if key is none and node is not none -%}
        {#- An expression is no column to pair by. -#}
        {%- set key = dbt_delta._names(node.config.get('unique_key')) -%}
        {%- set plain = [] -%}
        {%- for name in key if modules.re.fullmatch('\\w+', name) -%}{%- do plain.append(name) -%}{%- endfor -%}
        {%- set key = key if plain | length == key | length else none -%}
    {%- endif -%}
    {%- set comparison = dbt_delta._comparison(
        sides.before, sides.after, key, options.exclude_columns, options.tolerance, sides.rows
    ) -%}
    {%- set report = {
        'name': sides.name, 'before': sides.before_name, 'after': sides.after_name,
        'unique_key': comparison['keys'] | map(attribute='name') | list,
        'found_by': comparison.rows.kind,
        'rows_before': dbt_delta._row_count(sides.before), 'rows_after': dbt_delta._row_count(sides.after),
        'added': 0, 'removed': 0, 'changed': 0, 'note': '',
        'columns': {}, 'schema': comparison.schema, 'samples': [],
    } -%}
    {%- if comparison.rows.kind != 'none' -%}
        {%- set cache = dbt_delta._quoted(dbt_delta._beside(
            api.Relation.create(schema=target.schema, identifier='diff'), 'tmp'
        ).identifier) -%}
        {%- do run_query("cache table " ~ cache ~ " options ('storageLevel' = 'MEMORY_AND_DISK') as\n"
            ~ dbt_delta._diff_sql(comparison)) -%}
        {%- for row in run_query(dbt_delta._diff_counts_sql(cache)).rows -%}
            {%- if row['column'] is none -%}
                {%- do report.update({row['kind']: row['count'] | int}) -%}
            {%- else -%}
                {%- do report['columns'].update({row['column']: row['count'] | int}) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- for row in run_query(dbt_delta._diff_samples_sql(
            cache, comparison, masked, options.limit
        )).rows -%}
            {%- do report.samples.append({
                'kind': row['kind'],
                'columns': row['columns'].split('\n') if row['columns'] else [],
                'before': fromjson(row['before']) if row['before'] else none,
                'after': fromjson(row['after']) if row['after'] else none,
            }) -%}
        {%- endfor -%}
        {%- do run_query('uncache table ' ~ cache) -%}
        {%- do run_query('drop view ' ~ cache) -%}
    {%- endif -%}
    {{- return(report) -}}
{%- endmacro %}

{% macro _row_count(text) -%}
    {{- return(run_query('select count(*) as count from ' ~ text).rows[0]['count'] | int) -}}
{%- endmacro %}

{% macro _diff_counts_sql(cache) -%}
select _diff as kind, cast(null as string) as column, count(*) as count
from {{ cache }}
group by _diff
union all
select 'changed' as kind, column, count(*) as count
from {{ cache }} lateral view explode(_changed_columns) as column
group by column
order by column nulls first, kind
{%- endmacro %}

{# The first rows of each kind, by their content; values of masked columns are stars. #}
{% macro _diff_samples_sql(cache, comparison, masked, limit) -%}
{%- set shown = {'_before': [], '_after': []} -%}
{%- set orders = [] -%}
{%- for column in comparison.columns -%}
    {%- for side, fields in shown.items() -%}
        {%- do fields.append({'name': column.name, 'value': side ~ '.' ~ dbt_delta._quoted(column.name)}) -%}
    {%- endfor -%}
{%- endfor -%}
{%- for column in comparison['keys'] or comparison.columns -%}
    {%- set name = dbt_delta._quoted(column.name) -%}
    {%- for side in ('_after', '_before') -%}
        {%- do orders.append(dbt_delta._comparable(side ~ '.' ~ name, column.type)) -%}
    {%- endfor -%}
{%- endfor -%}
select
    _diff as kind,
    array_join(_changed_columns, '\n') as columns,
    {%- for side, fields in shown.items() %}
    if({{ side }} is null, null, {{ dbt_delta._shown_json(fields, masked) }}) as {{ side[1:] }},
    {%- endfor %}
    place
from (
    select *, row_number() over (partition by _diff order by {{ orders | join(', ') }}) as place
    from {{ cache }}
) as placed
where place <= {{ limit }}
order by kind, place
{%- endmacro %}

{# Stops with an error where a condition over the counts holds for one of the reports. #}
{% macro _fail_if(condition, reports) -%}
    {%- for report in reports -%}
        {%- set values = [] -%}
        {%- for name in ('added', 'removed', 'changed', 'rows_before', 'rows_after') -%}
            {%- set value = report[name] if report[name] is not none else 'null' -%}
            {%- do values.append('cast(' ~ value ~ ' as bigint) as ' ~ name) -%}
        {%- endfor -%}
        {%- do values.append('cast(' ~ report.schema | length ~ ' as bigint) as schema_changes') -%}
        {%- if run_query(
            'select coalesce(boolean(' ~ condition ~ '), false) as fails from (select ' ~ values | join(', ') ~ ')'
        ).rows[0]['fails'] | string | lower == 'true' -%}
            {%- do dbt_delta._refuse(
                'diff of ' ~ report.name ~ ': fail_if ' ~ condition ~ ' holds (added ' ~ report.added ~ ', removed '
                ~ report.removed ~ ', changed ' ~ report.changed ~ ', schema_changes ' ~ report.schema | length ~ ').'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
