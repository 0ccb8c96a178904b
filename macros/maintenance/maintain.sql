{#
    Does what maintenance_plan lists: first the steps that rewrite files, with the largest gain per written byte
    first, then VACUUM. A step that exceeds the budget is left for the next call. A step that fails is reported, and
    the others go on.
#}
{% macro maintain(select=none, state=none, budget_gb=none, budget_minutes=none, dry_run=false) -%}
    {%- do dbt_delta._in_format('check_operation')('maintain') -%}
    {%- for name, value in {'budget_gb': budget_gb, 'budget_minutes': budget_minutes}.items() -%}
        {%- if value is not none and (value is not number or value is boolean or value < 0) -%}
            {%- do dbt_delta._refuse('maintain has ' ~ name ~ " '" ~ value ~ "'. Use a number.") -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set began = modules.datetime.datetime.now() -%}
    {%- set tables = dbt_delta._plan(select, state, 'maintain') -%}
    {%- set steps = dbt_delta._ordered_steps(tables) -%}
    {%- if not steps -%}
        {%- do print('Nothing is worth doing in ' ~ tables | length ~ ' tables.') -%}
    {%- endif -%}
    {%- set at = namespace(bytes=0, done=0, left=0, failed=[]) -%}
    {%- if not dry_run -%}
        {%- for table in tables if table.state is not none -%}
            {%- do dbt_delta._put_back_retention(table) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for step in steps -%}
        {%- set name = dbt_delta._bare(step.table.relation) -%}
        {%- set line = loop.index ~ ' of ' ~ steps | length ~ ' ' ~ step.kind ~ ' ' ~ name ~ ': ' ~ step.why -%}
        {%- set minutes = (modules.datetime.datetime.now() - began).total_seconds() / 60 -%}
        {%- if (budget_gb is not none and at.bytes + step.bytes > budget_gb * 1000000000)
            or (budget_minutes is not none and minutes >= budget_minutes) -%}
            {%- set at.left = at.left + 1 -%}
            {%- do print(line ~ ' (left for the next call: ' ~ dbt_delta._bytes(step.bytes) ~ ')') -%}
        {%- elif dry_run -%}
            {%- set at.bytes = at.bytes + step.bytes -%}
            {%- do print(line ~ ' (dry run: ' ~ dbt_delta._bytes(step.bytes) ~ ')') -%}
        {%- else -%}
            {%- set taken = dbt_delta._take_upkeep(step) -%}
            {%- set at.bytes = at.bytes + (0 if taken.problem else step.bytes) -%}
            {%- if taken.problem and not taken.is_skipped -%}
                {%- do at.failed.append(name) -%}
            {%- endif -%}
            {%- do print(line ~ ' ... ' ~ (
                ('skipped: ' if taken.is_skipped else 'failed: ') ~ taken.problem if taken.problem else taken.done
            ) ~ ' [' ~ '%.1f' % taken.seconds ~ 's]') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for table in tables if table.state is not none and table.floor.blocked and table.reclaimable -%}
        {%- do print(dbt_delta._bare(table.relation) ~ ': no VACUUM: ' ~ table.floor.blocked) -%}
    {%- endfor -%}
    {%- for table in tables if table.state is none -%}
        {%- do print(dbt_delta._bare(table.relation) ~ ': ' ~ dbt_delta._log_problem(table)) -%}
        {%- do at.failed.append(dbt_delta._bare(table.relation)) -%}
    {%- endfor -%}
    {%- if at.left -%}
        {%- do print(at.left ~ ' of ' ~ steps | length ~ ' steps were left: the budget was too small.') -%}
    {%- endif -%}
    {%- if dry_run and steps -%}{%- do print('Dry run: nothing was changed.') -%}{%- endif -%}
    {%- if at.failed -%}
        {%- do dbt_delta._refuse(
            'maintain failed for ' ~ at.failed | unique | join(', ') ~ '. The lines above say why.'
        ) -%}
    {%- endif -%}
{%- endmacro %}
