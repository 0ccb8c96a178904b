{# The node of the project that builds this table, in any schema, or none. #}
{% macro _node_of(relation) -%}
    {%- set of_name = [] -%}
    {%- for node in dbt_delta._table_nodes(views=true) if node.alias | lower == relation.identifier | lower -%}
        {%- if node.schema | lower == relation.schema | lower -%}{{- return(node) -}}{%- endif -%}
        {%- do of_name.append(node) -%}
    {%- endfor -%}
    {{- return(of_name[0] if of_name | length == 1 else none) -}}
{%- endmacro %}

{#
    All that an output shows of one comparison of these relations. Its rows are computed once and stay in Spark's
    cache until they are counted.
#}
{% macro _diff_report(sides, relations, options) -%}
    {%- set key, masked, nodes = options.unique_key, [], [] -%}
    {%- for relation in relations -%}
        {%- do masked.extend(dbt_delta._masked_columns(relation)) -%}
        {%- do nodes.append(dbt_delta._node_of(relation)) -%}
    {%- endfor -%}
    {%- set node = nodes | select | first | default(none) -%}
    {%- if key is none and node is not none -%}
        {#- Rows are paired only by columns, not by expressions. -#}
        {%- set key = dbt_delta._names(node.config.get('unique_key')) -%}
        {%- set plain = [] -%}
        {%- for name in key if modules.re.fullmatch('\\w+', name) -%}{%- do plain.append(name) -%}{%- endfor -%}
        {%- set key = key if plain | length == key | length else none -%}
    {%- endif -%}
    {%- set comparison = dbt_delta._comparison(
        sides.before, sides.after, key, options.exclude_columns, options.tolerance, sides.rows
    ) -%}
    {%- set rows_before, rows_after = dbt_delta._row_count(sides.before), dbt_delta._row_count(sides.after) -%}
    {%- set counts, columns, samples = {}, {}, [] -%}
    {%- if comparison.rows.kind != 'none' -%}
        {%- set cache = dbt_delta._quoted(dbt_delta._beside(
            api.Relation.create(schema=target.schema, identifier='diff'), 'tmp'
        ).identifier) -%}
        {%- do run_query("cache table " ~ cache ~ " options ('storageLevel' = 'MEMORY_AND_DISK') as\n"
            ~ dbt_delta._diff_sql(comparison)) -%}
        {%- for row in run_query(dbt_delta._diff_counts_sql(cache)).rows -%}
            {%- if row['column'] is none -%}
                {%- do counts.update({row['kind']: row['count'] | int}) -%}
            {%- else -%}
                {%- do columns.update({row['column']: row['count'] | int}) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- for row in run_query(dbt_delta._diff_samples_sql(
            cache, comparison, masked, options.limit
        )).rows -%}
            {%- do samples.append({
                'kind': row['kind'],
                'columns': row['columns'].split('\n') if row['columns'] else [],
                'before': fromjson(row['before']) if row['before'] else none,
                'after': fromjson(row['after']) if row['after'] else none,
            }) -%}
        {%- endfor -%}
        {%- do run_query('uncache table ' ~ cache) -%}
        {%- do run_query('drop view ' ~ cache) -%}
    {%- endif -%}
    {{- return({
        'name': sides.name, 'before': sides.before_name, 'after': sides.after_name,
        'unique_key': comparison['keys'] | map(attribute='name') | list,
        'found_by': comparison.rows.kind, 'rows_before': rows_before, 'rows_after': rows_after,
        'added': counts.get('added', 0), 'removed': counts.get('removed', 0), 'changed': counts.get('changed', 0),
        'note': '', 'columns': columns, 'schema': comparison.schema, 'samples': samples,
    }) -}}
{%- endmacro %}

{% macro _row_count(text) -%}
    {{- return(run_query('select count(*) as count from ' ~ text).rows[0]['count'] | int) -}}
{%- endmacro %}

{#
    Stops with an error if a condition on the counts is true for one of the reports, or if a report compared nothing. A
    relation that is gone has no rows; of one that is new it is not known how many it had before.
#}
{% macro _fail_if(condition, reports) -%}
    {%- for report in reports -%}
        {%- if report.rows_before is none and report.rows_after is none -%}
            {%- do dbt_delta._refuse(
                'diff of ' ~ report.name ~ ': neither ' ~ report.before ~ ' nor ' ~ report.after ~ ' is in the catalog, so '
                ~ 'fail_if compared nothing. Correct the schemas, build it, or leave it out with select.'
            ) -%}
        {%- endif -%}
        {%- set report = dict(report, rows_after=report.rows_after or 0) -%}
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
