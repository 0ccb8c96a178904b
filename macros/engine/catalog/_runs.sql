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
        {%- set names = dbt_delta._names_of_table({'relation': relation, 'node': node}) -%}
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

{# The names by which `exclude` knows a table. #}
{% macro _names_of_table(table) -%}
    {{- return(
        [table.relation.identifier, dbt_delta._bare(table.relation)] + ([table.node.name] if table.node else [])
    ) -}}
{%- endmacro %}

{# Tables without those that these names mean. #}
{% macro _without_tables(tables, names) -%}
    {%- set left = [] -%}
    {%- for table in tables if not dbt_delta._names_of_table(table) | select('in', names) | list -%}
        {%- do left.append(table) -%}
    {%- endfor -%}
    {{- return(left) -}}
{%- endmacro %}

{# Tables with their tagged commits, newest first, their first commit, and the `problem` of an unreadable log. #}
{% macro _read_tagged(tables) -%}
    {%- set found, tagged, first, done = dbt_delta._read_logs(tables, 'tagged'), {}, {}, [] -%}
    {%- set problems = dict(found.problems) -%}
    {%- for row in found.rows -%}
        {%- set id = row['id'] | int -%}
        {%- if row['problem'] -%}{%- do problems.update({id: row['problem']}) -%}{%- endif -%}
        {%- set commit = dict(dbt_delta._commit(row), written=row['written'] | int) -%}
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

{#
    The commits of nodes' tables since a time in milliseconds, and those of their quarantines, newest first, by the
    node's id: {commits, quarantines, problems}. A commit also has `written`, its time in milliseconds.
#}
{% macro _read_histories(tables, since) -%}
    {%- set wanted, schemas, read, owners = {}, [], [], {} -%}
    {%- for table in tables -%}
        {%- set quarantine = dbt_delta._quarantine_of(table.relation) -%}
        {%- do wanted.update({dbt_delta._bare(quarantine) | lower: table.node.unique_id}) -%}
        {%- do schemas.append(table.relation.schema | lower) if table.relation.schema | lower not in schemas -%}
        {%- do owners.update({read | length: ('commits', table.node.unique_id)}) -%}
        {%- do read.append({'id': read | length, 'relation': table.relation, 'location': table.location}) -%}
    {%- endfor -%}
    {%- for entry in dbt_delta._listing(schemas) if entry.provider == 'delta' and entry.location -%}
        {%- set relation = api.Relation.create(schema=entry.schema, identifier=entry.name) -%}
        {%- set owner = wanted.get(dbt_delta._bare(relation) | lower) -%}
        {%- if owner is not none -%}
            {%- do owners.update({read | length: ('quarantines', owner)}) -%}
            {%- do read.append({
                'id': read | length, 'relation': relation, 'location': dbt_delta._plain_location(entry.location),
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set answer, problems = dbt_delta._read_logs(read, 'tagged', since), [] -%}
    {%- set found = {'commits': {}, 'quarantines': {}} -%}
    {%- for id, problem in answer.problems.items() -%}
        {%- do problems.append(dbt_delta._bare(read[id].relation) ~ ': its log cannot be read (' ~ problem ~ ')') -%}
    {%- endfor -%}
    {%- for row in answer.rows -%}
        {%- set kind, owner = owners[row['id'] | int] -%}
        {%- if row['problem'] -%}
            {%- do problems.append(dbt_delta._bare(read[row['id'] | int].relation) ~ ': ' ~ row['problem']) -%}
        {%- endif -%}
        {%- if row['operation'] is not none -%}
            {%- set commit = dict(dbt_delta._commit(row), written=row['written'] | int) -%}
            {%- do found[kind].setdefault(owner, []).append(commit) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(dict(found, problems=problems | unique | list)) -}}
{%- endmacro %}
