{#
    A run operation by which readers see again what they saw after a run: views alone change. The next run that
    succeeds publishes what is built.
#}
{% macro unpublish_to(run, dry_run=false) -%}
    {%- set settings = dbt_delta._publish_wanted('unpublish_to') -%}
    {%- set state = dbt_delta._published(settings) -%}
    {%- set found = dbt_delta._publication_of(run, [] if state.is_new else dbt_delta._publications(settings)) -%}
    {%- set obstacles = [] -%}
    {%- for name, target in found.versions.items()
        if target.version != state.published.get(name, {}).get('version') -%}
        {%- set relation = dbt_delta._relation_of(target.relation) -%}
        {%- set problem = dbt_delta._out_of_reach(relation, target.version, dbt_delta._commits(relation), files=true)
            if dbt_delta._entry(relation) is not none else target.relation ~ ' is not there any more' -%}
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
        {%- do dbt_delta._record(
            settings, done.seq, found.versions, found.versions, state.before.pending, state.before.seen,
            state.before.read_at,
        ) -%}
        {%- do dbt_delta._settle(settings) -%}
        {%- do print('Readers of ' ~ settings.schema ~ ' see run ' ~ found.run[:8] ~ ': ' ~ done.lines | join(', ') ~ '.') -%}
    {%- else -%}
        {%- do print('Readers of ' ~ settings.schema ~ ' see run ' ~ found.run[:8] ~ ' already.') -%}
    {%- endif -%}
{%- endmacro %}
