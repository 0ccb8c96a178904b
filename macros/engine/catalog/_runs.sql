{#
    The Delta tables of the schemas that the project names, with the commits of runs in their logs, read in a few
    statements: {tables, lost, broken}. A table is {relation, location, node, tagged, first}: `node` is the node that
    builds it today, if there is one; `tagged` are its commits with a run's tag; `first` is its oldest commit; both as
    _commits returns them. `lost` are lines on tables whose logs are missing or cannot be read, `broken` are the
    latter tables. Tables in `exclude` are left out.
#}
{% macro _run_tables(exclude=[]) -%}
    {%- set excluded = dbt_delta._names(exclude) -%}
    {%- set nodes, schemas, found, met = {}, [], [], [] -%}
    {%- for node in dbt_delta._table_nodes(views=true) -%}
        {%- do nodes.setdefault((node.schema | lower, node.alias | lower), node) -%}
    {%- endfor -%}
    {%- set named = [target.schema | lower] -%}
    {%- for node in graph.nodes.values() | list + graph.get('sources', {}).values() | list -%}
        {%- do named.append(node.schema | lower) -%}
    {%- endfor -%}
    {%- for schema in dbt_delta._schemas() if schema in named -%}{%- do schemas.append(schema) -%}{%- endfor -%}
    {%- for entry in dbt_delta._listing(schemas) -%}
        {%- set node = nodes.get((entry.schema | lower, entry.name | lower)) -%}
        {%- set relation = api.Relation.create(schema=entry.schema, identifier=entry.name) -%}
        {%- set names = [entry.name, dbt_delta._bare(relation)] + ([node.name] if node else []) -%}
        {%- do met.extend(names) -%}
        {%- if entry.provider == 'delta' and not names | select('in', excluded) | list -%}
            {%- do found.append({
                'id': found | length, 'relation': relation, 'node': node,
                'location': dbt_delta._plain_location(entry.location),
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set known = met + nodes.values() | map(attribute='name') | list -%}
    {%- for name in excluded if name not in known -%}
        {%- do dbt_delta._refuse(
            "exclude names '" ~ name ~ "', which is neither a model nor a table of " ~ schemas | join(', ')
            ~ '. Use names of models, or tables as schema.table.'
        ) -%}
    {%- endfor -%}
    {%- set tables, lost = dbt_delta._read_tagged(found), [] -%}
    {%- for table in tables if table.first is none -%}
        {%- do lost.append(
            dbt_delta._bare(table.relation) ~ (
                ': ' ~ dbt_delta._log_problem(table) ~ ', so it is not known what runs wrote there' if table.problem
                else ' has lost its log, so it is not known what runs wrote there'
            )
        ) -%}
    {%- endfor -%}
    {{- return({
        'tables': tables | selectattr('first') | list, 'lost': lost, 'broken': tables | selectattr('problem') | list,
    }) -}}
{%- endmacro %}

{# Tables with their tagged commits, newest first, their first commit, and the `problem` of an unreadable log. #}
{% macro _read_tagged(tables) -%}
    {%- set found, tagged, first, done = dbt_delta._read_logs(tables, 'tagged'), {}, {}, [] -%}
    {%- set problems = dict(found.problems) -%}
    {%- for row in found.rows -%}
        {%- set id = row['id'] | int -%}
        {%- if row['problem'] -%}{%- do problems.update({id: row['problem']}) -%}{%- endif -%}
        {%- set commit = dbt_delta._commit(row) -%}
        {%- if commit.run is not none -%}{%- do tagged.setdefault(id, []).append(commit) -%}{%- endif -%}
        {%- do first.update({id: commit}) -%}
    {%- endfor -%}
    {%- for table in tables -%}
        {%- do done.append(dict(
            table, tagged=tagged.get(table.id, []), problem=problems.get(table.id),
            first=none if table.id in problems else first.get(table.id)
        )) -%}
    {%- endfor -%}
    {{- return(done) -}}
{%- endmacro %}
