{# Of each node with build_when: its last run, and why it would run now or not, in the terminal or as JSON. #}
{% macro state(select=none, output='text') -%}
    {%- do dbt_delta._in_format('check_operation')('state') -%}
    {%- if output not in ('text', 'json') -%}
        {%- do dbt_delta._refuse("state has output '" ~ output ~ "'. It is one of text, json.") -%}
    {%- endif -%}
    {%- set lines = adapter.dbt_delta_state(select) if adapter.dbt_delta_state is defined else none -%}
    {%- if lines is none -%}
        {%- do dbt_delta._refuse(
            'state needs the embedded session of dbt_delta\'s Python package: on a server every node runs, and '
            ~ 'nothing is recorded.'
        ) -%}
    {%- endif -%}
    {%- if output == 'json' -%}
        {%- do print(tojson(lines)) -%}
    {%- elif not lines -%}
        {%- do print('No node has build_when: inputs_changed: all of them run each time.') -%}
    {%- else -%}
        {%- set shown, now = [], modules.datetime.datetime.now(modules.pytz.utc).timestamp() -%}
        {%- for line in lines -%}
            {%- do shown.append(dict(
                line, age='' if line.at is none else dbt_delta._duration(now - line.at), run=(line.run or '')[:8] or none
            )) -%}
        {%- endfor -%}
        {%- do dbt_delta._print_table(['node', 'kind', 'age', 'status', 'run', 'next', 'why'], shown) -%}
    {%- endif -%}
{%- endmacro %}
