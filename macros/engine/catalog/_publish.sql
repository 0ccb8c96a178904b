{#
    What readers see: {seq, now, views, published, broken, others, is_new, is_recorded}. `views` are ours by their names,
    {relation, steps, by, text, columns}; `published` what they show now, {relation, version}; `broken` the names whose views a killed
    publication left unusable: for these `published` has what the last publication showed; `others` what else is there,
    {name: type}.
#}
{% macro _published(settings) -%}
    {%- set place = dbt_delta._publish_place(settings) -%}
    {%- set views, published, broken, others, found = {}, {}, [], {}, [] -%}
    {%- for entry in dbt_delta._listing([settings.schema], may_miss=true) -%}
        {%- set view = dbt_delta._published_view(entry.text) if entry.type == 'view' else none -%}
        {%- if entry.name | lower in (place.pointer.identifier, place.records.identifier) -%}
            {%- do found.append(entry.name | lower) -%}
        {%- elif view is none -%}
            {%- do others.update({entry.name | lower: entry.type}) -%}
        {%- else -%}
            {%- do views.update({entry.name | lower: dict(view, text=entry.text, columns=entry.get('columns'))}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set at = run_query(
        'select unix_millis(current_timestamp()) as now, '
        ~ ('seq from ' ~ dbt_delta._named(place.pointer) if place.pointer.identifier in found else '0 as seq')
    ).rows[0] -%}
    {%- set seq = at['seq'] | int -%}
    {%- for name, view in views.items() -%}
        {%- set step = dbt_delta._step_at(view.steps, seq) -%}
        {%- if step is not none -%}
            {%- do published.update({name: {'relation': view.relation, 'version': step.version}}) -%}
        {%- else -%}
            {%- do broken.append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if broken and place.records.identifier in found -%}
        {%- for publication in dbt_delta._publications(settings)[:1] -%}
            {%- for name, target in publication.versions.items() if name in broken -%}
                {%- do published.update({name: {'relation': target.relation, 'version': target.version}}) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return({
        'seq': seq, 'now': at['now'] | int, 'views': views, 'published': published, 'others': others,
        'broken': broken, 'is_new': found | length < 2, 'is_recorded': place.records.identifier in found,
    }) -}}
{%- endmacro %}

{#
    What the last run left, {pending, seen, written, read_at}, with the last publication that is written down, `recorded`;
    nothing where there are no settings.
#}
{% macro _left(settings) -%}
    {%- set records = dbt_delta._named(dbt_delta._publish_place(settings).records) if settings is not none -%}
    {#- A session that has read it once does not see the files of others. -#}
    {%- if settings is not none -%}{%- do run_query('refresh table ' ~ records) -%}{%- endif -%}
    {%- set found = {'state': none, 'recorded': none} if settings is none else run_query(
        'select max_by(state, written_at) filter (where name is null) as state, '
        ~ 'max(seq) filter (where name is not null) as recorded from ' ~ records
    ).rows[0] -%}
    {%- set left = fromjson(found['state']) if found['state'] else {'pending': {}, 'seen': {}, 'read_at': 0} -%}
    {{- return(dict(left, recorded=(found['recorded'] or 0) | int)) -}}
{%- endmacro %}

{# The views through which readers see a relation, {schema, name}, in all schemas, whatever this run publishes. #}
{% macro _readers_of(relation) -%}
    {%- set known, found = dbt_delta._memory('readers'), [] -%}
    {%- if 'schemas' not in known -%}
        {%- set schemas = [] -%}
        {%- for schema in dbt_delta._schemas() -%}
            {%- if dbt_delta._is_in_catalog(dbt_delta._publish_place({'schema': schema}).pointer) -%}
                {%- do schemas.append(schema) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- do known.update({'schemas': schemas}) -%}
    {%- endif -%}
    {%- for entry in dbt_delta._listing(known.schemas, may_miss=true) if entry.type == 'view' -%}
        {%- set view = dbt_delta._published_view(entry.text) -%}
        {%- if view is not none and view.relation | lower == dbt_delta._bare(relation) | lower -%}
            {%- do found.append({'schema': entry.schema, 'name': entry.name}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# Refuses what stands in the way of a view, or is the view of another schema's table. #}
{% macro _check_way(settings, state) -%}
    {%- for name, node in settings.nodes.items() -%}
        {%- set table = node.schema ~ '.' ~ node.alias -%}
        {%- set view, other = state.views.get(name), state.others.get(name) -%}
        {%- if other or (view and view.relation | lower != table | lower) -%}
            {%- do dbt_delta._refuse(
                'dbt_delta_publish: ' ~ settings.schema ~ '.' ~ name ~ ' is ' ~ (
                    'a ' ~ other ~ ' that dbt_delta did not make' if other
                    else 'the view of ' ~ view.relation ~ ', not of ' ~ table
                ) ~ '. Drop it, or give '
                ~ ('the model another alias' if other else 'this target a schema of its own, or leave it out of targets')
                ~ '. Nothing was changed.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{# Refuses to publish where another project or target does: its views would be dropped. #}
{% macro _check_publisher(settings, state) -%}
    {%- for name, view in state.views.items() if view.get('by', settings.by) != settings.by -%}
        {%- do dbt_delta._refuse(
            'dbt_delta_publish: ' ~ settings.schema ~ '.' ~ name ~ ' was published by ' ~ view.by ~ ', and ' ~ settings.by
            ~ ' would drop it. Publish in a schema of its own, or leave target ' ~ target.name ~ ' out of targets. '
            ~ 'Nothing was changed. To take the schema over: dbt run-operation publish with force: true.'
        ) -%}
    {%- endfor -%}
{%- endmacro %}

{#
    Of watched nodes, {name: node}, the tables that are there, {name: {relation, version, location, written, is_anew,
    is_moved, is_limited, is_overwritten, is_own}}: `written` is when the version was, `is_anew` where the table is another one than
    the last run saw, `is_moved` where rows were written since the version that it saw, `is_limited` where --empty or --sample
    left some out, `is_overwritten` where others wrote after this run, and `is_own` where nobody did.
    Only the commits since then are read.
#}
{% macro _heads(watched, before) -%}
    {%- set nodes, groups, heads = {}, {'old': [], 'new': []}, {} -%}
    {%- for name, node in watched.items() -%}
        {%- do nodes.update({(node.schema | lower, node.alias | lower): dict(node, shown_as=name)}) -%}
    {%- endfor -%}
    {%- set schemas = nodes.values() | map(attribute='schema') | map('lower') | unique | list -%}
    {%- for entry in dbt_delta._listing(schemas, may_miss=true) if entry.provider == 'delta' and entry.location -%}
        {%- set node = nodes.get((entry.schema | lower, entry.name | lower)) -%}
        {%- if node -%}
            {%- do groups['old' if node.unique_id in before.seen else 'new'].append({
                'id': entry.name, 'name': node.shown_as, 'relation': node.schema ~ '.' ~ node.alias,
                'seen': before.seen.get(node.unique_id),
                'written': before.get('written', {}).get(node.unique_id), 'location': dbt_delta._plain_location(entry.location),
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {#- Without the plugin commits do not say whose they are. -#}
    {%- set has_no_tags = adapter.dbt_delta_young_commits is not defined -%}
    {%- for kind, tables in groups.items() if tables -%}
        {%- set numbered = [] -%}
        {%- for table in tables -%}{%- do numbered.append(dict(table, id=loop.index0)) -%}{%- endfor -%}
        {%- set since = before.read_at - 3600000 if kind == 'old' else none -%}
        {%- set commits = dbt_delta._young_commits(numbered, since) -%}
        {%- for table in numbered if table.id in commits or table.seen is not none -%}
            {%- set found = commits.get(table.id, []) -%}
            {%- set version = found[0].version if found else table.seen -%}
            {%- set is_anew = table.seen is not none and dbt_delta._is_made_anew(found, table.seen, table.written) -%}
            {%- do heads.update({table.name: {
                'relation': table.relation, 'version': version, 'location': table.location,
                'written': found[0].written if found else table.written, 'is_anew': is_anew,
                'is_moved': is_anew or (table.seen is not none and dbt_delta._is_changed(found, table.seen)),
                'is_limited': dbt_delta._is_limited(found, none if is_anew else table.seen),
                'is_overwritten': dbt_delta._is_overwritten(found, invocation_id),
                'is_own': has_no_tags or dbt_delta._is_own(found, invocation_id),
            }}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(heads) -}}
{%- endmacro %}

{#
    The commits of tables, newest first, by the table's id: [{version, operation, run, written, limited_by}], as _young_commits_sql.
    `since` is a time at which the last run saw them. Logs on disks of this machine are read without Spark, from the versions
    on that it saw.
#}
{% macro _young_commits(tables, since=none) -%}
    {%- set seen, commits = {}, {} -%}
    {%- for table in tables -%}{%- do seen.update({table.id: (table.location, table.seen)}) -%}{%- endfor -%}
    {%- if since is not none and adapter.dbt_delta_young_commits is defined -%}
        {%- set found = adapter.dbt_delta_young_commits(seen) -%}
        {%- if found is not none -%}{{- return(found) -}}{%- endif -%}
    {%- endif -%}
    {%- set logs = dbt_delta._readable_logs(tables).logs -%}
    {%- for row in (run_query(dbt_delta._young_commits_sql(logs, since)).rows if logs else []) -%}
        {%- do commits.setdefault(row['id'] | int, []).append({
            'version': row['version'] | int, 'operation': row['operation'], 'run': row['run'],
            'written': row['written'], 'limited_by': row['limited_by'],
        }) -%}
    {%- endfor -%}
    {{- return(commits) -}}
{%- endmacro %}

{# What was published, newest first: {seq, run, time, versions}; versions as {name: {relation, version, location}}. #}
{% macro _publications(settings) -%}
    {%- set found = {} -%}
    {%- for row in run_query(
        'select seq, run, written_at, name, relation, version, location from '
        ~ dbt_delta._named(dbt_delta._publish_place(settings).records) ~ ' where name is not null order by seq desc, name'
    ).rows -%}
        {%- do found.setdefault(row['seq'] | int, {
            'seq': row['seq'] | int, 'run': row['run'], 'time': row['written_at'], 'versions': {},
        }).versions.update({row['name']: {
            'relation': row['relation'], 'version': row['version'] | int, 'location': row['location'],
        }}) -%}
    {%- endfor -%}
    {{- return(found.values() | list) -}}
{%- endmacro %}

{# Of unit tests that were left to do, those that the project still has; all where the plugin does not say that. #}
{% macro _known_unit_tests(pending) -%}
    {%- set known = adapter.dbt_delta_unit_tests() if adapter.dbt_delta_unit_tests is defined else pending -%}
    {%- set found = [] -%}
    {%- for id in pending if id.startswith('unit_test.') and id in known -%}{%- do found.append(id) -%}{%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{#
    The ids of results, as {id: true}, that --defer gave the tables of another state: those that read what the run did not
    select, and dbt found there because it is not here, or by --favor-state.
#}
{% macro _deferred(results) -%}
    {%- set found = {} -%}
    {%- if not invocation_args_dict.get('defer') -%}{{- return(found) -}}{%- endif -%}
    {%- set edges, is_favored = dbt_delta._edges(graph.nodes), invocation_args_dict.get('favor_state') -%}
    {%- for result in results -%}
        {%- for parent in dbt_delta._read_by(result.node.unique_id, graph.nodes, edges)
            if parent not in selected_resources -%}
            {%- set node = graph.nodes.get(parent, {}) -%}
            {%- set other = node.get('defer_relation') -%}
            {%- if other and other.relation_name != node.relation_name
                and (is_favored or adapter.get_relation(node.database, node.schema, node.alias) is none) -%}
                {%- do found.update({result.node.unique_id: true}) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}
