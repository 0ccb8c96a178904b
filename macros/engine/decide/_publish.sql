{# Those ids, and all that edges, as {id: ids}, lead to from them; as keys of a dictionary. #}
{% macro _reached(ids, edges) -%}
    {%- set found, queue = {}, ids | list -%}
    {#- The list grows while it is read. -#}
    {%- for id in queue if id not in found -%}
        {%- do found.update({id: true}) -%}
        {%- do queue.extend(edges.get(id, [])) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# The edges between the nodes of a graph: {up, down}. #}
{% macro _edges(nodes) -%}
    {%- set up, down = {}, {} -%}
    {%- for id, node in nodes.items() -%}
        {%- for parent in node.get('depends_on', {}).get('nodes', []) -%}
            {%- do up.setdefault(id, []).append(parent) -%}
            {%- do down.setdefault(parent, []).append(id) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return({'up': up, 'down': down}) -}}
{%- endmacro %}

{# What must be right for some nodes to be published: they, all before them, and the tests of these. #}
{% macro _concerned(ids, edges) -%}
    {%- set found = dbt_delta._reached(ids, edges.up) -%}
    {%- set tests = {} -%}
    {%- for id in found -%}
        {%- for child in edges.down.get(id, []) if child.split('.')[0] in ('test', 'unit_test') -%}
            {%- do tests.update({child: true}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(dict(found, **tests)) -}}
{%- endmacro %}

{# The published nodes by their names, and the tables that they are made of, by their ids. #}
{% macro _watched(published, ids, edges) -%}
    {%- set watched, concerned = dict(published), dbt_delta._reached(ids, edges.up) -%}
    {%- for node in dbt_delta._table_nodes() if node.unique_id in concerned and node.unique_id not in ids -%}
        {%- do watched.update({node.unique_id: node}) -%}
    {%- endfor -%}
    {{- return(watched) -}}
{%- endmacro %}

{#
    The nodes of a graph, with the unit tests among some ids, which dbt's graph lacks:
    `unit_test.<package>.<model>.<name>`.
#}
{% macro _with_unit_tests(nodes, ids) -%}
    {%- set found = dict(nodes) -%}
    {%- for id in ids if id.startswith('unit_test.') -%}
        {%- set model, parents = 'model.' ~ id.split('.')[1:3] | join('.'), [] -%}
        {%- for node in nodes if node == model or node.startswith(model ~ '.v') -%}
            {%- do parents.append(node) -%}
        {%- endfor -%}
        {%- do found.update({id: {'depends_on': {'nodes': parents}}}) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{#
    What the heads of watched nodes say, by their ids: {seen, written, moved, overwritten, beside, left}; `left` is what
    the last run left `before`, with what --empty or --sample has limited since, whoever ran it. `beside` are those that
    another run saw change since the `start` of this one, which did not write them last.
#}
{% macro _news(watched, heads, before, start) -%}
    {%- set seen, written, moved, overwritten, limited, beside = {}, {}, {}, [], {}, {} -%}
    {%- for name, node in watched.items() if name in heads -%}
        {%- set id, head = node.unique_id, heads[name] -%}
        {%- do seen.update({id: head.version}) -%}
        {%- do written.update({id: head.written}) -%}
        {%- if head.is_moved or head.is_overwritten -%}{%- do moved.update({id: head.version}) -%}{%- endif -%}
        {%- if head.is_overwritten -%}{%- do overwritten.append(id) -%}{%- endif -%}
        {%- if not head.is_own and dbt_delta._seen_of(start, id) != dbt_delta._seen_of(before, id) -%}
            {%- do beside.update({id: true}) -%}
        {%- endif -%}
        {#- By this run, or by one that was killed or publishes nothing. -#}
        {%- if head.is_limited -%}{%- do limited.update({id: dbt_delta._why_limited(node)}) -%}{%- endif -%}
    {%- endfor -%}
    {{- return({
        'seen': seen, 'written': written, 'moved': moved, 'overwritten': overwritten, 'beside': beside,
        'left': dict(before.pending, **limited),
    }) -}}
{%- endmacro %}

{# The version of a table that a run saw, and when that was written. #}
{% macro _seen_of(left, id) -%}
    {{- return((left.seen.get(id), left.get('written', {}).get(id) | string)) -}}
{%- endmacro %}

{#
    The results of a run, without the successes that another run may have overtaken since its `start`: it left something
    to do for the node, or the tables `beside` are among what the node is made of. That it did not know of a table what
    this run was building says nothing.
#}
{% macro _timely(results, edges, start, before, beside) -%}
    {%- set timely = [] -%}
    {%- for result in results -%}
        {%- set id, why = result.id, before.pending.get(result.id, '') -%}
        {%- set is_new = start.pending.get(id, '') != why
            and not why.startswith('has version ') and not why.startswith('was not built since ') -%}
        {%- set made_of = dbt_delta._reached([id], edges.up) if beside else {} -%}
        {%- set is_old = is_new or beside.keys() | select('in', made_of) | list | length > 0 -%}
        {%- if not is_old or not dbt_delta._is_success(result.status) -%}
            {%- do timely.append(result) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(timely) -}}
{%- endmacro %}

{# What a node reads: its parents, and through ephemeral models theirs. #}
{% macro _read_by(id, nodes, edges) -%}
    {%- set found, queue = {}, edges.up.get(id, []) | list -%}
    {#- The list grows while it is read. -#}
    {%- for parent in queue if parent not in found -%}
        {%- do found.update({parent: true}) -%}
        {%- if dbt_delta._is_ephemeral(nodes.get(parent, {})) -%}
            {%- do queue.extend(edges.up.get(parent, [])) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{% macro _is_ephemeral(node) -%}
    {{- return(node.get('config', {}).get('materialized') == 'ephemeral') -}}
{%- endmacro %}

{#
    What dbt's results say of nodes, [{id, status, limited_by}]: `limited_by` is the option by which a node may have
    read fewer rows than there are, or, if it is among the `deferred` ones, those of another state. Left out is what says
    nothing of a table: a model that --empty did not touch, one that was not due, and a test that passed on such rows.
#}
{% macro _outcomes(results, is_limited=false, deferred=[]) -%}
    {%- set outcomes = [] -%}
    {%- for result in results if result.message != 'not due' and not (result.message or '').startswith('--empty: ') -%}
        {%- set id, status = result.node.unique_id, result.status | string -%}
        {%- set limited_by = '--empty or --sample' if is_limited else '--defer' if id in deferred else none -%}
        {#- The rows of a unit test are its own. -#}
        {%- if not limited_by or id.startswith('unit_test.') -%}
            {%- do outcomes.append({'id': id, 'status': status}) -%}
        {%- elif not (id.startswith('test.') and dbt_delta._is_success(status)) -%}
            {%- do outcomes.append({'id': id, 'status': status, 'limited_by': limited_by}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(outcomes) -}}
{%- endmacro %}

{#
    What is left to do before the tables may be published, {id: why}: what was left `before` and has not succeeded
    since; what failed; what lacks rows; what has not run since something that it depends on was built; published tables
    that no run has built yet; tables that others wrote (`moved`, {id: version}), some of them after this run
    (`overwritten`). `results` are those of this run, as _outcomes has them; --full-refresh makes it full.
#}
{% macro _pending(published, nodes, edges, before, results, seen, moved, overwritten=[], is_full=false) -%}
    {%- set concerned, pending, done = {}, {}, {} -%}
    {#- dbt runs no ephemeral model, and has no result of one. -#}
    {%- for id in dbt_delta._concerned(published, edges) if not dbt_delta._is_ephemeral(nodes.get(id, {})) -%}
        {%- do concerned.update({id: true}) -%}
    {%- endfor -%}
    {%- for result in results -%}
        {%- do done.update({result.id: dbt_delta._is_success(result.status)}) -%}
    {%- endfor -%}
    {%- for id, why in before.items() if id in concerned and id in nodes
        and (not done.get(id) or (why.endswith('--full-refresh') and not dbt_delta._is_full(nodes[id], is_full))) -%}
        {%- do pending.update({id: why}) -%}
    {%- endfor -%}
    {#- Its id has a hash of its arguments: it may be one of the tests that there are now. -#}
    {%- for gone in before if gone.startswith('test.') and gone not in nodes -%}
        {%- for id in concerned if id.startswith('test.') and id not in done -%}
            {%- do pending.setdefault(id, 'was not run since ' ~ dbt_delta._node_name(gone) ~ ' is gone') -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for result in results if result.id in concerned and not done[result.id]
        and not dbt_delta._is_limited_why(pending.get(result.id)) -%}
        {%- do pending.update({result.id: 'was skipped' if result.status == 'skipped' else 'failed'}) -%}
    {%- endfor -%}
    {%- for result in results if result.id in concerned and done[result.id] -%}
        {%- do pending.update(dbt_delta._limited_build(result, nodes, edges, pending)) -%}
    {%- endfor -%}
    {%- for result in results if done[result.id] and result.id.split('.')[0] in ('model', 'seed', 'snapshot') -%}
        {%- for id in dbt_delta._reached([result.id], edges.down)
            if id in concerned and id in nodes and id not in done -%}
            {%- do pending.setdefault(id, 'was not run after ' ~ dbt_delta._node_name(result.id)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for id in published if not done.get(id) and id not in seen -%}
        {%- do pending.setdefault(id, 'was not built since it is to be published') -%}
    {%- endfor -%}
    {%- for id, version in moved.items() if not done.get(id) or id in overwritten -%}
        {%- do pending.setdefault(id, 'has version ' ~ version ~ ', which no finished run has built') -%}
    {%- endfor -%}
    {{- return(pending) -}}
{%- endmacro %}

{#
    Why a node that was built is left all the same, {id: why}: an option limited it, or what it was made of. Results
    come in the order in which they ended, so that `pending` has the latter.
#}
{% macro _limited_build(result, nodes, edges, pending) -%}
    {%- set found, id = {}, result.id -%}
    {%- if id.split('.')[0] in ('test', 'unit_test') -%}{{- return(found) -}}{%- endif -%}
    {%- for parent in dbt_delta._read_by(id, nodes, edges) if dbt_delta._is_limited_why(pending.get(parent)) -%}
        {%- set by = pending[parent].partition(':')[0].removeprefix('was built with ') -%}
        {%- do found.update({id: dbt_delta._why_limited(nodes.get(id, {}), by)}) -%}
    {%- endfor -%}
    {%- if result.get('limited_by') -%}
        {%- do found.update({id: dbt_delta._why_limited(nodes.get(id, {}), result.limited_by)}) -%}
    {%- endif -%}
    {{- return(found) -}}
{%- endmacro %}

{# Why a node whose rows an option limited is left: an incremental model adds to the rows that it has. #}
{% macro _why_limited(node, by='--empty or --sample') -%}
    {%- set is_added_to = node.get('config', {}).get('materialized') == 'incremental' -%}
    {{- return('was built with ' ~ by ~ (': it needs --full-refresh' if is_added_to)) -}}
{%- endmacro %}

{# Whether a reason is one of these: a later failure does not change it. #}
{% macro _is_limited_why(why) -%}
    {{- return((why or '').startswith('was built with --')) -}}
{%- endmacro %}

{# What is left to do, with what runs have left since this one read what was left `before`. #}
{% macro _also_left(pending, before, now) -%}
    {%- set found = dict(pending) -%}
    {%- for id, why in now.pending.items() if before.pending.get(id) != why
        and (id not in found or dbt_delta._is_limited_why(why)) -%}
        {%- do found.update({id: why}) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# Whether a node was built from scratch in a run: its own setting wins over --full-refresh. #}
{% macro _is_full(node, is_full) -%}
    {%- set own = node.get('config', {}).get('full_refresh') -%}
    {{- return(is_full if own is none else own) -}}
{%- endmacro %}

{% macro _is_success(status) -%}
    {{- return((status | string | lower) in ('success', 'pass', 'warn', 'no-op')) -}}
{%- endmacro %}

{# The name of a node in its id; a generic test has a hash behind it, a unit test its model before it. #}
{% macro _node_name(id) -%}
    {{- return(id.split('.')[3 if id.startswith('unit_test.') else 2]) -}}
{%- endmacro %}

{# Published tables, by the names that readers see, in the units that move together. #}
{% macro _units(unit, nodes) -%}
    {%- set units = {} -%}
    {%- for name, node in nodes.items() -%}
        {%- set key = {'build': '', 'group': node.config.get('group') or '', 'model': name}[unit] -%}
        {%- do units.setdefault(key, []).append(name) -%}
    {%- endfor -%}
    {{- return(units) -}}
{%- endmacro %}

{#
    Of tables with new versions, `heads` {name: {relation, version}}, those that readers may see: {targets, held}.
    `targets` is what readers see then, as `published` is what they see now; `held` says why names stay, {name: whys}.
#}
{% macro _publication(settings, edges, pending, failed, heads, published) -%}
    {%- set targets, held = {}, {} -%}
    {%- for names in dbt_delta._units(settings.unit, settings.nodes).values() -%}
        {%- set ids, whys = [], failed | list if settings.unit == 'build' else [] -%}
        {%- for name in names -%}{%- do ids.append(settings.nodes[name].unique_id) -%}{%- endfor -%}
        {%- set concerned = dbt_delta._concerned(ids, edges) -%}
        {%- for id, why in pending.items() if id in concerned -%}
            {%- do whys.append(dbt_delta._node_name(id) ~ ' ' ~ why) -%}
        {%- endfor -%}
        {%- for name in names if name not in heads and not whys -%}
            {%- do whys.append(name ~ ' is not there') -%}
        {%- endfor -%}
        {%- for name in names -%}
            {%- if not whys -%}
                {%- do targets.update({name: heads[name]}) -%}
            {%- else -%}
                {%- if name in published -%}{%- do targets.update({name: published[name]}) -%}{%- endif -%}
                {%- do held.update({name: whys | unique | list}) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return({'targets': targets, 'held': held}) -}}
{%- endmacro %}

{# The step of a view that holds at a publication, none before the first; steps are [{since, version}]. #}
{% macro _step_at(steps, seq) -%}
    {%- set at = namespace(step=none) -%}
    {%- for step in steps if step.since <= seq -%}{%- set at.step = step -%}{%- endfor -%}
    {{- return(at.step) -}}
{%- endmacro %}

{#
    The steps of a view that shows `version` from a publication on, and until then what it shows now: none where those
    that it has do that. Where the columns differ it cannot show both.
#}
{% macro _steps_to(steps, now, seq, version, is_same_shape) -%}
    {%- set current = dbt_delta._step_at(steps, now) -%}
    {%- set later = dbt_delta._step_at(steps, seq) -%}
    {%- if later is not none and later.version == version -%}{{- return(none) -}}{%- endif -%}
    {%- set new = [{'since': seq, 'version': version}] -%}
    {{- return(([current] if current is not none and is_same_shape else []) + new) -}}
{%- endmacro %}

{# What a view of a published table says of itself: {relation, steps, by}; none of any other view. #}
{% macro _published_view(text) -%}
    {%- set found = modules.re.match('(?s)select /\\* dbt_delta_publish (\\{.*?\\}) \\*/', text or '') -%}
    {{- return(fromjson(found.group(1), none) if found else none) -}}
{%- endmacro %}

{#
    Of publications, newest first, the one that a run made: its id or the beginning; `previous` is the last one before
    that which readers see, whether that is written down or not.
#}
{% macro _publication_of(run, publications, shown) -%}
    {%- set found = [] -%}
    {%- for publication in publications
        if publication.run.startswith(run | string) or (run == 'previous' and publication.seq < shown and not found) -%}
        {%- do found.append(publication) -%}
    {%- endfor -%}
    {%- set runs = found | map(attribute='run') | unique | list -%}
    {%- if not found -%}
        {%- do dbt_delta._refuse(
            "unpublish_to: run '" ~ run ~ "' published nothing. The last ones that did are "
            ~ (publications | map(attribute='run') | unique | list)[:5] | join(', ') ~ '.'
        ) -%}
    {%- elif runs | length > 1 -%}
        {%- do dbt_delta._refuse(
            "unpublish_to: run '" ~ run ~ "' may be " ~ runs | join(' or ') ~ '. Give more of its id.'
        ) -%}
    {%- endif -%}
    {{- return(found[0]) -}}
{%- endmacro %}
