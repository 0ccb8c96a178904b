{#
    What bringing a table back to a version means: {relation, table, newest, at, version, keeps, action,
    about}; newest and its time tell whether the table is still the one that was looked at. Where a
    later commit restated its properties, RESTORE brings those of the version back: `keeps` are those
    of today on which later runs, feeds and restores rely. A version of none drops the table.
#}
{% macro _restore_step(relation, version, commits) -%}
    {%- set step = {
        'relation': relation, 'table': dbt_delta._bare(relation),
        'newest': commits[0].version, 'at': commits[0].time, 'version': version,
        'keeps': {}, 'action': 'drop', 'about': 'the run created it',
    } -%}
    {%- if version is none -%}{{- return(step) -}}{%- endif -%}
    {%- set about = [] -%}
    {%- set old = dbt_delta._columns_of('select * from ' ~ dbt_delta._as_of(relation, version)) -%}
    {%- set new = dbt_delta._columns_of('select * from ' ~ dbt_delta._named(relation)) -%}
    {%- for change in dbt_delta._column_changes(old, new) -%}
        {%- do about.append('column ' ~ dbt_delta._schema_text(change)) -%}
    {%- endfor -%}
    {%- set restating = [] -%}
    {%- for commit in commits if commit.version > version
        and commit.operation.split(' ')[0] in ('SET', 'UNSET', 'CREATE', 'REPLACE', 'CLONE', 'RESTORE') -%}
        {%- do restating.append(commit.version) -%}
    {%- endfor -%}
    {%- if restating -%}{%- do about.append('properties and comment of version ' ~ version) -%}{%- endif -%}
    {%- do step.update({
        'action': 'restore',
        'about': about | join(', '),
        'keeps': dbt_delta._relied_properties(relation) if restating else {},
    }) -%}
    {{- return(step) -}}
{%- endmacro %}

{% macro _print_steps(steps) -%}
    {%- set lines = [] -%}
    {%- for step in steps -%}
        {%- do lines.append({
            'table': step.table, 'action': step.action, 'from': step.newest, 'to': step.version, 'about': step.about,
        }) -%}
    {%- endfor -%}
    {%- do dbt_delta._print_table(['table', 'action', 'from', 'to', 'about'], lines) -%}
{%- endmacro %}

{# Takes a step, if the table is still what the plan saw. #}
{% macro _take_step(step) -%}
    {%- set newest = dbt_delta._commits(step.relation, 1)[0] -%}
    {%- if (newest.version, newest.time) != (step.newest, step.at) -%}
        {%- do dbt_delta._refuse(
            step.table ~ ' was changed by somebody else meanwhile. What was done before is whole; run the same again.'
        ) -%}
    {%- endif -%}
    {%- if step.version is none -%}
        {%- do dbt_delta._drop(api.Relation.create(
            schema=step.relation.schema, identifier=step.relation.identifier, type='table'
        )) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set name = dbt_delta._named(step.relation) -%}
    {%- call dbt_delta._tagging({'dbt_kept_properties': step.keeps} if step.keeps else {}) -%}
        {%- if step.newest != step.version -%}
            {%- do run_query('restore table ' ~ name ~ ' to version as of ' ~ step.version) -%}
        {%- endif -%}
        {%- set lost = dbt_delta._lost_properties(step.relation, step.keeps) -%}
        {%- if lost -%}
            {%- do run_query(dbt_delta.get_set_properties_sql(step.relation, lost)) -%}
        {%- endif -%}
    {%- endcall -%}
{%- endmacro %}
