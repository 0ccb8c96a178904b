{#
    What a model reads of an input in this run, on top of `options`: {relation, macro, name, id, from, to, kind, moved,
    rebuild}. `kind` is all, rows or none: the input as of version `to`, what changed after version `from`, or nothing.
    `from` is none in a first build, -1 after one with --empty. `moved`: the watermark moves to `to`. `rebuild`: the
    changes cannot be read, and on_gap asks to build the table anew.
#}
{% macro _new_input(relation, macro, strategies, on_gap, options) -%}
    {%- do dbt_delta._check_reader(relation, macro, strategies, on_gap) -%}
    {%- set name = dbt_delta._bare(relation) | lower -%}
    {%- set known = dbt_delta._memory('inputs') -%}
    {%- set key = model.unique_id ~ ' ' ~ name -%}
    {%- if dbt_delta_nothing_landed is defined and known.get(key, {}).get('to', -1) >= 0 -%}
        {#- The plugin asks for the SELECT of a run that finds nothing; see src/dbt_delta/state/build.py. -#}
        {{- return(dict(known[key], **{'from': known[key].to, 'kind': 'none', 'moved': false, 'rebuild': false})) -}}
    {%- endif -%}
    {%- set location = dbt_delta._delta_table(relation, macro).location -%}
    {%- set goes_on = is_incremental() and model.unique_id not in dbt_delta._memory('rebuilt') -%}
    {%- set read = dbt_delta._watermark(this, model.unique_id) if goes_on and not flags.EMPTY else none -%}
    {%- set seen = (read.inputs if read is not none else {}).get(name) -%}
    {%- set newest = dbt_delta._commits(relation, 1)[0].version -%}
    {%- set ids = dbt_delta._commit_ids(location, [newest] if seen is none else [seen.version, newest]) -%}
    {%- set whole = dict(options, **{
        'relation': relation, 'macro': macro, 'name': name, 'location': location, 'id': ids.get(newest), 'from': none,
        'to': newest, 'kind': 'all', 'moved': true, 'rebuild': false, 'changes': none,
    }) -%}
    {%- if flags.EMPTY -%}
        {%- set input = dict(whole, kind='none', to=-1, id=none) -%}
    {%- elif not goes_on -%}
        {%- set input = whole -%}
    {%- else -%}
        {%- set gap = dbt_delta._gap_before(read, seen, ids, newest) -%}
        {%- set input = dict(whole, gap=gap) if gap else dbt_delta._input_since(whole, seen) -%}
        {%- if input.gap -%}
            {%- do dbt_delta._refuse_gap(input, on_gap) -%}
            {%- set input = dict(whole, rebuild=true) -%}
        {%- endif -%}
    {%- endif -%}
    {%- do dbt_delta._check_input_columns(input) -%}
    {%- do known.update({key: input}) -%}
    {{- return(input) -}}
{%- endmacro %}

{# The same of a table that has read the input before; `gap` says why its rows cannot follow the input. #}
{% macro _input_since(whole, seen) -%}
    {%- set since = dict(whole, **{'from': seen.version, 'gap': none}) -%}
    {%- if seen.version < 0 -%}{{- return(since) -}}{%- endif -%}
    {%- set nothing = dict(since, kind='none', to=seen.version, id=seen.id, moved=false) -%}
    {%- if seen.version == whole.to -%}{{- return(nothing) -}}{%- endif -%}
    {%- set commits = dbt_delta._commits_since(whole.relation, seen.version, whole.to) -%}
    {%- set gap = dbt_delta._gap_between(commits, seen.version, whole.to)
        or (dbt_delta._gap_of_restore(commits, seen.version, whole.to) if whole.macro == 'new_rows' else none) -%}
    {%- if gap -%}
        {{- return(dict(since, gap=gap)) -}}
    {%- elif not dbt_delta._move_rows(commits, seen.version, whole.to) -%}
        {#- A watermark that stays behind would be lost with the log. -#}
        {%- set is_old = dbt_delta._seconds_since(
            (commits | selectattr('version', 'equalto', seen.version + 1) | first).time
        ) > 86400 -%}
        {{- return(dict(since, kind='none') if is_old else nothing) -}}
    {%- endif -%}
    {%- set changes = dbt_delta._input_changes(whole, seen.version) -%}
    {{- return(dict(since, kind='rows', changes=changes, gap=changes.gap)) -}}
{%- endmacro %}

{#
    The changes between two versions, {text, gap, is_feed}: from the change feed if it can be read and has the columns
    of the later version, otherwise by comparison.
#}
{% macro _input_changes(input, from) -%}
    {%- set relation, to = input.relation, input.to -%}
    {%- set columns = dbt_delta._columns_of('select * from ' ~ dbt_delta._as_of(relation, to)) -%}
    {%- set feed = dbt_delta.get_change_feed_sql(relation, from + 1, to) -%}
    {#- All of it, because files of any version may be gone. -#}
    {%- if dbt_delta._succeeds('count(*)', feed) and dbt_delta._has_columns(feed, columns) -%}
        {%- set names = dbt_delta._quoted_list(columns | map(attribute='name')) -%}
        {{- return({
            'text': 'select ' ~ names ~ ', _change_type, _commit_version\nfrom (\n' ~ feed ~ '\n)',
            'gap': none, 'is_feed': true,
        }) -}}
    {%- endif -%}
    {%- set gap = dbt_delta._out_of_reach(relation, from, dbt_delta._commits(relation)) -%}
    {%- if gap -%}{{- return({'text': none, 'gap': gap.rstrip('.'), 'is_feed': false}) -}}{%- endif -%}
    {%- set text = dbt_delta.get_compared_changes_sql(relation, from, to) -%}
    {%- set problem = dbt_delta._attempt('select count(*) from (\n' ~ text ~ '\n)').problem -%}
    {{- return({
        'text': text, 'is_feed': false,
        'gap': 'its changes after version ' ~ from ~ ' cannot be read: ' ~ problem if problem else none,
    }) -}}
{%- endmacro %}

{% macro _refuse_gap(input, on_gap) -%}
    {%- set why = input.macro ~ ' of ' ~ dbt_delta._named(input.relation) ~ ': ' ~ input.gap ~ '. Nothing was written. '
        ~ 'Build ' ~ dbt_delta._named(this) ~ ' anew with --full-refresh' -%}
    {%- if on_gap == 'fail' -%}
        {%- do dbt_delta._refuse(why ~ "; with on_gap='full_refresh' such a run does that by itself.") -%}
    {%- elif config.get('full_refresh') is not none and not config.get('full_refresh') -%}
        {%- do dbt_delta._refuse(why ~ ': on_gap asks for that, but full_refresh is false.') -%}
    {%- elif model.extra_ctes or dbt_delta._asks_incremental() -%}
        {%- do dbt_delta._refuse(
            why ~ ': on_gap asks for that, but not of a model that asks is_incremental() or reads an ephemeral model.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# Refuses a model, an input or an argument for which the macro has no meaning. #}
{% macro _check_reader(relation, macro, strategies, on_gap) -%}
    {%- set what = macro ~ ' of ' ~ relation -%}
    {%- do dbt_delta._check_choice(what ~ ': on_gap', on_gap, ['fail', 'full_refresh']) -%}
    {%- if relation.identifier is not defined -%}
        {%- do dbt_delta._refuse(what ~ ' needs a relation, such as ref(..) or source(..).') -%}
    {%- elif not model or model.resource_type != 'model' or model.config.materialized != 'incremental' -%}
        {%- do dbt_delta._refuse(
            what ~ ': only an incremental model keeps what it has read. Use materialized: incremental.'
        ) -%}
    {%- endif -%}
    {%- set strategy = config.get('incremental_strategy') or 'merge' -%}
    {%- if strategy not in strategies -%}
        {%- do dbt_delta._refuse(
            what ~ ' in ' ~ model.name ~ ': incremental_strategy is ' ~ strategy ~ '. Use '
            ~ strategies | join(' or ') ~ '.'
        ) -%}
    {%- elif strategy == 'merge' and not config.get('unique_key') -%}
        {%- do dbt_delta._refuse(
            what ~ ' in ' ~ model.name ~ ': incremental_strategy merge without unique_key only adds rows, and two runs at '
            ~ 'a time would add them twice. Use append, or set unique_key.'
        ) -%}
    {%- elif dbt_delta._format() != 'delta' -%}
        {%- do dbt_delta._refuse(what ~ ' in ' ~ model.name ~ ' needs file_format delta.') -%}
    {%- elif adapter.dbt_delta_plugin is not defined -%}
        {%- do dbt_delta._refuse(
            what ~ " needs dbt_delta's plugin, which this environment has not: what was read could not be kept in the "
            ~ 'commit of the rows. Install the Python package dbt_delta.'
        ) -%}
    {%- elif dbt_delta._sample() -%}
        {%- do dbt_delta._refuse(
            what ~ ': --sample leaves out rows, which would count as read. Leave ' ~ model.name ~ ' out with --exclude.'
        ) -%}
    {%- elif dbt_delta._bare(relation) | lower == dbt_delta._bare(this) | lower -%}
        {%- do dbt_delta._refuse(what ~ ': a model cannot follow its own table.') -%}
    {%- endif -%}
{%- endmacro %}

{# Refuses keys that the input does not have, and columns with a name that the macro gives. #}
{% macro _check_input_columns(input) -%}
    {%- if input.macro != 'new_changes' or input.kind == 'none' -%}{{- return('') -}}{%- endif -%}
    {%- set columns = dbt_delta._columns_of('select * from ' ~ dbt_delta._as_of(input.relation, input.to)) -%}
    {%- for name in input['keys'] if dbt_delta._column(columns, name) is none -%}
        {%- do dbt_delta._refuse_missing(
            'unique_key of new_changes', name, columns, dbt_delta._named(input.relation)
        ) -%}
    {%- endfor -%}
    {%- for name in ('_change_type', '_commit_version') if dbt_delta._column(columns, name) is not none -%}
        {%- do dbt_delta._refuse(
            'new_changes of ' ~ dbt_delta._named(input.relation) ~ ': the table has a column ' ~ name
            ~ ', which new_changes uses itself. Rename it.'
        ) -%}
    {%- endfor -%}
{%- endmacro %}

{# The rows that a unit test gives for an input. #}
{% macro _given_input(relation, macro, columns) -%}
    {%- if model.resource_type != 'unit_test' -%}
        {%- do dbt_delta._refuse(
            macro ~ ' of ' ~ relation ~ ': an ephemeral model has no versions. Make it a table or an incremental model.'
        ) -%}
    {%- endif -%}
    {{- return('(select ' ~ columns ~ ' from ' ~ relation ~ ')') -}}
{%- endmacro %}
