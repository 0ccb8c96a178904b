{#
    Shows readers the targets, {name: {relation, version}}, all at one instant: first each view learns what it will show
    from a publication on, then one statement says that it has come. Views whose columns change cannot show both, and
    change right before it, once nothing is left that could refuse the others. Views that are `gone` are dropped right
    after. Gives {seq, lines, views, steady}: what moved, and the views as they are now, the `steady` ones as
    _steady_views has them.
#}
{% macro _show(settings, state, targets, gone) -%}
    {%- set place = dbt_delta._publish_place(settings) -%}
    {%- set seq = [state.now, state.seq + 1] | max -%}
    {%- set changed = {} -%}
    {%- for name, target in targets.items()
        if name in state.broken or state.published.get(name, {}).get('version') != target.version -%}
        {%- do changed.update({name: target}) -%}
    {%- endfor -%}
    {%- set steady = dbt_delta._steady_views(state.views, changed) -%}
    {%- set early, late, lines = [], [], [] -%}
    {%- for name, target in targets.items() -%}
        {%- set old = state.published.get(name) -%}
        {%- set is_anew = target.get('is_anew', false) -%}
        {%- set is_same = not is_anew and (
            old is none or old.version == target.version or name in steady or dbt_delta._has_shape(target, old)
        ) -%}
        {%- set view = dict({'steps': [], 'by': settings.by}, **state.views.get(name, {})) -%}
        {%- set is_taken_over = view.by != settings.by -%}
        {#- What a view of a table that is gone shows is nothing to keep. -#}
        {%- set steps = dbt_delta._steps_to([] if is_anew else view.steps, state.seq, seq, target.version, is_same) -%}
        {%- if steps is not none or is_taken_over -%}
            {%- do (early if is_same else late).append({
                'name': name, 'relation': target.relation, 'steps': view.steps if steps is none else steps,
            }) -%}
        {%- endif -%}
        {%- if old is none or old.version != target.version or name in state.broken or is_anew -%}
            {%- do lines.append(name ~ ' ' ~ (old.version ~ ' -> ' if old else '') ~ target.version) -%}
        {%- elif is_taken_over -%}
            {%- do lines.append(name ~ ' taken over') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name in gone -%}{%- do lines.append(name ~ ' removed') -%}{%- endfor -%}
    {%- if not lines -%}
        {{- return({'seq': state.seq, 'lines': lines, 'views': state.views, 'steady': []}) -}}
    {%- endif -%}
    {%- do dbt_delta._check_alone(settings, state, early + late) -%}
    {%- do dbt_delta._set_published_views(settings, early, state.views, steady) -%}
    {%- set views = dbt_delta._prepared(settings, state, seq, targets, late) -%}
    {%- if late and views is not none -%}
        {%- do dbt_delta._set_published_views(settings, late, state.views, steady) -%}
        {%- set views = dbt_delta._prepared(settings, state, seq, targets, []) -%}
        {%- if views is none -%}{%- do dbt_delta._give_back(settings, state, late) -%}{%- endif -%}
    {%- endif -%}
    {%- if views is none -%}{%- do dbt_delta._refuse_beside(settings) -%}{%- endif -%}
    {%- do run_query(dbt_delta.get_set_view_sql(place.pointer, dbt_delta.get_pointer_sql(seq), is_new=false)) -%}
    {%- for name in gone -%}
        {%- do dbt_delta._drop(api.Relation.create(schema=settings.schema, identifier=name), 'view') -%}
    {%- endfor -%}
    {{- return({'seq': seq, 'lines': lines, 'views': views, 'steady': steady}) -}}
{%- endmacro %}

{# Refuses to publish where another run has meanwhile: what views show comes from the state before. #}
{% macro _check_alone(settings, state, views) -%}
    {%- set now = dbt_delta._published(settings) -%}
    {%- for view in views if now.seq != state.seq or now.views.get(view.name) != state.views.get(view.name) -%}
        {%- do dbt_delta._refuse_beside(settings) -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _refuse_beside(settings) -%}
    {%- do dbt_delta._refuse(
        'Another run publishes in ' ~ settings.schema ~ ' at the same time. Readers see what they saw. '
        ~ 'When it has ended: dbt run-operation publish.'
    ) -%}
{%- endmacro %}

{#
    The views, once all know what they will show, except the `late` ones, which are as they were; none where another run
    has meanwhile published, or is about to.
#}
{% macro _prepared(settings, before, seq, targets, late) -%}
    {%- set now, waiting = dbt_delta._published(settings), late | map(attribute='name') | list -%}
    {%- if now.seq != before.seq -%}{{- return(none) -}}{%- endif -%}
    {%- for name, target in targets.items() -%}
        {%- set step = dbt_delta._step_at(now.views.get(name, {}).get('steps', []), seq) -%}
        {%- if name in waiting -%}
            {%- if now.views.get(name) != before.views.get(name) -%}{{- return(none) -}}{%- endif -%}
        {%- elif step is none or step.version != target.version -%}
            {{- return(none) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(now.views) -}}
{%- endmacro %}

{# Gives views that are still as this run altered them what they showed before. #}
{% macro _give_back(settings, before, views) -%}
    {%- set now = dbt_delta._published(settings) -%}
    {%- for view in views if view.name in before.views and now.views.get(view.name, {}).get('steps') == view.steps -%}
        {%- set relation = api.Relation.create(schema=settings.schema, identifier=view.name) -%}
        {#- The table of the old text may be gone. -#}
        {%- do dbt_delta._attempt(dbt_delta.get_set_view_sql(relation, before.views[view.name].text, is_new=false)) -%}
    {%- endfor -%}
{%- endmacro %}

{# Whether two versions of a table can be read and have the same columns. #}
{% macro _has_shape(target, old) -%}
    {%- set relation, shapes = dbt_delta._relation_of(target.relation), [] -%}
    {%- for version in (old.version, target.version) -%}
        {%- set found = dbt_delta._attempt('describe query select * from ' ~ dbt_delta._as_of(relation, version)) -%}
        {%- set columns = [found.problem] -%}
        {%- for row in found.rows -%}{%- do columns.append((row[0], row[1])) -%}{%- endfor -%}
        {%- do shapes.append(columns) -%}
    {%- endfor -%}
    {{- return(shapes[0] == shapes[1] and not shapes[0][0]) -}}
{%- endmacro %}

{% macro _relation_of(text) -%}
    {%- set schema, _, name = text.partition('.') -%}
    {{- return(api.Relation.create(schema=schema, identifier=name)) -}}
{%- endmacro %}

{# The schema, and the view that says that nothing was published yet. #}
{% macro _begin_publishing(settings) -%}
    {%- set place = dbt_delta._publish_place(settings) -%}
    {%- do run_query('create schema if not exists ' ~ dbt_delta._quoted(settings.schema)) -%}
    {%- do run_query(dbt_delta.get_create_publications_sql(place.records)) -%}
    {%- if not dbt_delta._is_in_catalog(place.pointer) -%}
        {%- do run_query(dbt_delta.get_set_view_sql(place.pointer, dbt_delta.get_pointer_sql(0), is_new=true)) -%}
    {%- endif -%}
{%- endmacro %}

{#
    Gives views their steps, in their order; those that are `steady` keep their columns, and come first: the catalog
    takes them without planning each of them.
#}
{% macro _set_published_views(settings, views, known, steady) -%}
    {%- set place, texts, sqls = dbt_delta._publish_place(settings), {}, {} -%}
    {%- for view in views -%}
        {%- set sql = dbt_delta.get_published_view_sql(
            api.Relation.create(schema=settings.schema, identifier=view.name),
            dbt_delta._relation_of(view.relation), view.steps, place.pointer, settings.by
        ) -%}
        {%- do sqls.update({view.name: sql}) -%}
        {%- if view.name in steady -%}
            {%- do texts.update({view.name: (known[view.name].text, sql | trim)}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set left = adapter.dbt_delta_set_views(settings.schema, texts) if texts else [] -%}
    {%- for name, sql in sqls.items() if name not in texts or name in left -%}
        {%- set relation = api.Relation.create(schema=settings.schema, identifier=name) -%}
        {%- do run_query(dbt_delta.get_set_view_sql(relation, sql, name not in known)) -%}
    {%- endfor -%}
{%- endmacro %}

{# The names of views that have exactly the columns of what they shall show, as far as the session knows at once. #}
{% macro _steady_views(views, targets) -%}
    {%- set asked = {} -%}
    {%- for name, target in targets.items() if views.get(name, {}).get('columns') and not target.get('is_anew') -%}
        {%- if target.get('location') -%}
            {%- do asked.update({name: (views[name].columns, target.location, target.version)}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(adapter.dbt_delta_steady(asked) if asked and adapter.dbt_delta_steady is defined else []) -}}
{%- endmacro %}

{#
    Takes from views what nobody sees any more: Delta would refuse it once it is older than the table's retention, and
    the view with it. Queries that are being planned may still need it: they have two seconds. What another run
    publishes meanwhile stays. Views that were steady, and are as _show left them, still are.
#}
{% macro _settle(settings, shown) -%}
    {%- if not dbt_delta._unsettled(shown.views) -%}{{- return('') -}}{%- endif -%}
    {%- do run_query("select reflect('java.lang.Thread', 'sleep', 2000L)") -%}
    {%- set state, views = dbt_delta._published(settings), [] -%}
    {%- for name, view in dbt_delta._unsettled(state.views).items()
        if state.seq == shown.seq and view == shown.views.get(name) -%}
        {%- set step = dbt_delta._step_at(view.steps, state.seq) -%}
        {%- do views.append({'name': name, 'relation': view.relation, 'steps': [step]}) -%}
    {%- endfor -%}
    {%- do dbt_delta._set_published_views(settings, views, state.views, shown.steady) -%}
{%- endmacro %}

{# The views that show one version after the other. #}
{% macro _unsettled(views) -%}
    {%- set found = {} -%}
    {%- for name, view in views.items() if view.steps | length > 1 -%}
        {%- do found.update({name: view}) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# Writes down what is published, and what a run leaves to later ones, of what it found `before`. #}
{% macro _record(settings, seq, targets, heads, left, before) -%}
    {%- set rows = [] -%}
    {%- for name, target in targets.items() -%}
        {%- do rows.append(dict(target, name=name, location=heads.get(name, {}).get('location') or '')) -%}
    {%- endfor -%}
    {%- set records = dbt_delta._publish_place(settings).records -%}
    {%- set pending = dbt_delta._also_left(left.pending, before, dbt_delta._left(settings)) -%}
    {%- do run_query(dbt_delta.get_record_sql(
        records, seq, invocation_id, rows, tojson(dict(left, pending=pending), sort_keys=true),
    )) -%}
{%- endmacro %}

{#
    What a run that ends here publishes, and what it leaves to do. `results` are as _outcomes has them; `is_forced`
    publishes what is there, whatever is left to do.
#}
{% macro _publish(settings, results, is_forced=false, dry_run=false) -%}
    {%- set state = dbt_delta._published(settings) -%}
    {%- do dbt_delta._check_way(settings, state) -%}
    {%- if not is_forced -%}{%- do dbt_delta._check_publisher(settings, state) -%}{%- endif -%}
    {%- set before = dbt_delta._left(settings if state.is_recorded else none) -%}
    {%- set nodes = dbt_delta._with_unit_tests(
        graph.nodes, dbt_delta._known_unit_tests(before.pending) + results | map(attribute='id') | list
    ) -%}
    {%- set edges = dbt_delta._edges(nodes) -%}
    {%- set ids = settings.nodes.values() | map(attribute='unique_id') | list -%}
    {%- set watched = dbt_delta._watched(settings.nodes, ids, edges) -%}
    {%- set heads = dbt_delta._heads(watched, before) -%}
    {%- set start = dbt_delta._memory('publish').get('start', before) -%}
    {%- set news, failed = dbt_delta._news(watched, heads, before, start), [] -%}
    {%- for result in results if not dbt_delta._is_success(result.status) -%}
        {%- do failed.append(
            dbt_delta._node_name(result.id) ~ (' was skipped' if result.status == 'skipped' else ' failed')
        ) -%}
    {%- endfor -%}
    {%- set pending = {} if is_forced else dbt_delta._pending(
        ids, nodes, edges, news.left, dbt_delta._timely(results, edges, start, before, news.beside),
        before.seen, news.moved, news.overwritten, flags.FULL_REFRESH
    ) -%}
    {%- set plan = dbt_delta._publication(settings, edges, pending, failed, heads, state.published) -%}
    {%- if dry_run -%}{{- return(dict(plan, lines=[], state=state, heads=heads)) -}}{%- endif -%}
    {#- Of a new model whose first publication was killed: the next one would show it. -#}
    {%- for name in state.broken if name not in plan.targets -%}
        {%- do dbt_delta._drop(api.Relation.create(schema=settings.schema, identifier=name), 'view') -%}
    {%- endfor -%}
    {%- set gone = [] if plan.held else state.views | reject('in', settings.nodes) | list -%}
    {%- if state.is_new -%}{%- do dbt_delta._begin_publishing(settings) -%}{%- endif -%}
    {%- set left = {'pending': pending, 'seen': news.seen, 'written': news.written, 'read_at': state.now} -%}
    {%- set is_news = dict(before, **left) != dict(before, read_at=state.now) -%}
    {#- What is left to do is known also if the publication fails. -#}
    {%- set is_known = is_news and pending | length > 0 -%}
    {%- if is_known -%}{%- do dbt_delta._record(settings, state.seq, {}, heads, left, before) -%}{%- endif -%}
    {%- set shown = dbt_delta._show(settings, state, plan.targets, gone) -%}
    {#- A run that was killed right after the instant has not written down what readers see. -#}
    {%- set is_written = not shown.lines and (before.recorded == state.seq or not plan.targets) -%}
    {%- if not is_written or (is_news and not is_known) -%}
        {%- do dbt_delta._record(
            settings, shown.seq, {} if is_written else plan.targets, heads, left, before
        ) -%}
    {%- endif -%}
    {%- do dbt_delta._settle(settings, shown) -%}
    {{- return(dict(plan, **shown)) -}}
{%- endmacro %}

{# What readers see of each view, what is built, and what holds it back. #}
{% macro _published_lines(settings) -%}
    {%- set plan = dbt_delta._publish(settings, [], dry_run=true) -%}
    {%- set state, heads = plan.state, plan.heads -%}
    {%- set known, lines = [] if state.is_new else dbt_delta._publications(settings), [] -%}
    {%- for name in (state.published.keys() | list + settings.nodes.keys() | list) | unique | sort -%}
        {%- set shown, head = state.published.get(name), heads.get(name) -%}
        {%- set published = dbt_delta._published_by(known, name, shown) -%}
        {%- do lines.append({
            'view': settings.schema ~ '.' ~ name,
            'table': (shown or head or {'relation': none}).relation,
            'published': shown.version if shown else none,
            'newest': head.version if head else none,
            'run': published.run if published else none,
            'age': dbt_delta._age(published.time) if published else none,
            'held back by': plan.held.get(name, []) | join(', ') or none,
        }) -%}
    {%- endfor -%}
    {{- return(lines) -}}
{%- endmacro %}

{# The publication that first showed what a view shows, of those that are in a row with it. #}
{% macro _published_by(publications, name, shown) -%}
    {%- set at = namespace(found=none, is_over=shown is none) -%}
    {%- for publication in publications if not at.is_over -%}
        {%- if publication.versions.get(name, {}).get('version') == shown.version -%}
            {%- set at.found = publication -%}
        {%- else -%}
            {%- set at.is_over = true -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(at.found) -}}
{%- endmacro %}
