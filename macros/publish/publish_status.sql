{# A run operation that shows what readers see, what is built, and what holds it back. #}
{% macro publish_status(output='text') -%}
    {%- set settings = dbt_delta._publish_wanted('publish_status') -%}
    {%- do dbt_delta._check_choice('publish_status: output', output, ['text', 'json']) -%}
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
    {%- if output == 'json' -%}
        {%- do print(tojson(lines)) -%}
    {%- else -%}
        {%- set short = [] -%}
        {%- for line in lines -%}{%- do short.append(dict(line, run=(line.run or '')[:8] or none)) -%}{%- endfor -%}
        {%- do dbt_delta._print_table(
            ['view', 'table', 'published', 'newest', 'run', 'age', 'held back by'], short
        ) -%}
    {%- endif -%}
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
