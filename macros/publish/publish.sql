{# A run operation that publishes what is built, unless something is left to do; `force` asks nothing. #}
{% macro publish(force=false, dry_run=false) -%}
    {%- do dbt_delta._in_format('check_operation')('publish') -%}
    {%- set settings = dbt_delta._publish_wanted('publish') -%}
    {%- set plan = dbt_delta._publish(settings, [], is_forced=force, dry_run=true) -%}
    {%- if plan.held and settings.unit == 'build' -%}
        {%- do dbt_delta._refuse(
            'publish: ' ~ dbt_delta._publish_lines(settings, plan) | join('. ')
            ~ '. Nothing was changed. Run what is named, or publish it all the same with force: true.'
        ) -%}
    {%- elif dry_run -%}
        {%- do dbt_delta._print_targets(settings, plan.targets) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set done = dbt_delta._publish(settings, [], is_forced=force) -%}
    {%- for line in dbt_delta._publish_lines(settings, done) -%}{%- do print(line ~ '.') -%}{%- endfor -%}
{%- endmacro %}

{# The settings, where something is published. #}
{% macro _publish_wanted(macro) -%}
    {%- set settings = dbt_delta._publish_settings() -%}
    {%- if settings is none -%}
        {%- do dbt_delta._refuse(
            macro ~ ': nothing is published here. Give the variable dbt_delta_publish, as in '
            ~ '{schema: analytics, select: marts}, and this target in its targets if it has some.'
        ) -%}
    {%- endif -%}
    {{- return(settings) -}}
{%- endmacro %}

{# What a dry run says. #}
{% macro _print_targets(settings, targets) -%}
    {%- set lines = [] -%}
    {%- for name, target in targets.items() -%}
        {%- do lines.append({
            'view': settings.schema ~ '.' ~ name, 'table': target.relation, 'version': target.version,
        }) -%}
    {%- endfor -%}
    {%- do dbt_delta._print_table(['view', 'table', 'version'], lines) -%}
    {%- do print('Dry run: nothing was changed.') -%}
{%- endmacro %}
