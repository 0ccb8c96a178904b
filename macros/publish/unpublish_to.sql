{#
    A run operation by which readers see again what they saw after a run: views alone change. The next run that
    succeeds publishes what is built.
#}
{% macro unpublish_to(run, dry_run=false) -%}
    {%- do dbt_delta._in_format('check_operation')('unpublish_to') -%}
    {%- set settings = dbt_delta._publish_wanted('unpublish_to') -%}
    {%- set state = dbt_delta._published(settings) -%}
    {%- do dbt_delta._check_publisher(settings, state) -%}
    {%- set found = dbt_delta._publication_of(
        run, [] if state.is_new else dbt_delta._publications(settings), state.seq
    ) -%}
    {%- set obstacles = [] -%}
    {%- for name, target in found.versions.items() -%}
        {%- set problem = dbt_delta._unshowable(
            target, found.time, target.version == state.published.get(name, {}).get('version')
        ) -%}
        {%- if problem -%}{%- do obstacles.append(problem) -%}{%- endif -%}
    {%- endfor -%}
    {%- if obstacles -%}
        {%- do dbt_delta._refuse(
            'unpublish_to: the publication of run ' ~ found.run ~ ' cannot be shown again. Nothing was changed.\n  '
            ~ obstacles | join('\n  ')
        ) -%}
    {%- elif dry_run -%}
        {%- do dbt_delta._print_targets(settings, found.versions) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set done = dbt_delta._show(
        settings, state, found.versions, state.views | reject('in', found.versions) | list
    ) -%}
    {%- if done.lines -%}
        {%- set before = dbt_delta._left(settings) -%}
        {%- do dbt_delta._record(settings, done.seq, found.versions, found.versions, before, before) -%}
        {%- do dbt_delta._settle(settings, done) -%}
        {%- do print('Readers of ' ~ settings.schema ~ ' see run ' ~ found.run[:8] ~ ': ' ~ done.lines | join(', ') ~ '.') -%}
    {%- else -%}
        {%- do print('Readers of ' ~ settings.schema ~ ' see run ' ~ found.run[:8] ~ ' already.') -%}
    {%- endif -%}
{%- endmacro %}

{# Why a view cannot show what it showed at a time; empty if it can. #}
{% macro _unshowable(target, time, is_shown) -%}
    {%- set relation = dbt_delta._relation_of(target.relation) -%}
    {%- if dbt_delta._entry(relation) is none -%}{{- return(target.relation ~ ' is not there any more') -}}{%- endif -%}
    {%- set commits = dbt_delta._commits(relation) -%}
    {%- for commit in commits if commit.version == target.version and commit.time > time -%}
        {{- return(target.relation ~ ' was made anew since: its version ' ~ target.version ~ ' has other rows') -}}
    {%- endfor -%}
    {{- return('' if is_shown else dbt_delta._out_of_reach(relation, target.version, commits, files=true)) -}}
{%- endmacro %}
