{#
    The Delta tables of the schemas that the project names, with the commits of runs that their logs tell, of all
    in a few statements: {tables, lost}. A table is {relation, location, node, tagged, first}: `node` is what dbt
    makes it of today, if anything, `tagged` are its commits with a run's tag, `first` is the oldest of all, both
    as _commits has them. `lost` are lines on tables whose logs are not there or cannot be read. What `exclude`
    names is not among them.
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
                'id': found | length, 'relation': relation, 'node': node, 'tagged': [], 'first': none,
                'location': dbt_delta._plain_location(entry.location),
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set known = met + nodes.values() | map(attribute='name') | list -%}
    {%- for name in excluded if name not in known -%}
        {%- do dbt_delta._refuse(
            "exclude names '" ~ name ~ "', which is no model and no table of " ~ schemas | join(', ')
            ~ '. Give names of models, or tables as schema.table.'
        ) -%}
    {%- endfor -%}
    {%- do dbt_delta._read_tagged(found) -%}
    {%- set lost = [] -%}
    {%- for table in found if table.first is none -%}
        {%- do lost.append(
            dbt_delta._bare(table.relation) ~ (
                ': its log cannot be read (' ~ table.problem ~ '), nor what runs wrote there' if table.problem is defined
                else ' has lost its log, and with it what runs wrote there'
            )
        ) -%}
    {%- endfor -%}
    {{- return({'tables': found | selectattr('first') | list, 'lost': lost}) -}}
{%- endmacro %}

{# Adds to tables their tagged commits, newest first, and their first one. #}
{% macro _read_tagged(tables) -%}
    {%- set logs = dbt_delta._readable_logs(tables) -%}
    {%- if not logs -%}{{- return('') -}}{%- endif -%}
    {%- for row in run_query(dbt_delta._tagged_sql(tables, logs)).rows -%}
        {%- set table, commit = tables[row['id'] | int], dbt_delta._commit(row) -%}
        {%- if commit.run is not none -%}{%- do table.tagged.append(commit) -%}{%- endif -%}
        {%- do table.update({'first': commit}) -%}
    {%- endfor -%}
{%- endmacro %}
