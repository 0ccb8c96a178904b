{% macro _print_steps(steps) -%}
    {%- set lines = [] -%}
    {%- for step in steps -%}
        {%- do lines.append({
            'table': step.table, 'action': step.action, 'from': step.newest, 'to': step.version, 'about': step.about,
        }) -%}
    {%- endfor -%}
    {%- do dbt_delta._print_table(['table', 'action', 'from', 'to', 'about'], lines) -%}
{%- endmacro %}

{# Takes the steps of several tables, the drops last; the commits carry `tag`. #}
{% macro _take_steps(steps, tag) -%}
    {%- for kind in (steps | rejectattr('version', 'none') | list, steps | selectattr('version', 'none') | list) -%}
        {%- set calls = {} -%}
        {%- for step in kind -%}{%- do calls.update({step.table: {'step': step, 'tag': tag}}) -%}{%- endfor -%}
        {%- do dbt_delta._each(dbt_delta._take_tagged, calls) -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _take_tagged(step, tag) -%}
    {%- call dbt_delta._tagging(tag) -%}{%- do dbt_delta._take_step(step) -%}{%- endcall -%}
{%- endmacro %}

{# Takes a step if the table has not changed since the plan. #}
{% macro _take_step(step) -%}
    {%- set newest = dbt_delta._commits(step.relation, 1)[0] -%}
    {%- if (newest.version, newest.time) != (step.newest, step.at) -%}
        {%- do dbt_delta._refuse(
            'Another writer changed ' ~ step.table ~ ' meanwhile. The steps before it are done. Run the command again.'
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
        {%- do dbt_delta._give_properties(step.relation, lost) -%}
    {%- endcall -%}
{%- endmacro %}
