{#
    The Delta tables of the catalog, as _maintained gives them. `node` is the selected one that dbt makes
    the table of; tables without one, of all schemas or of those that the variable
    dbt_delta_clone_schemas names, are here as they may be shallow clones of others.
#}
{% macro _catalog_tables(nodes, relation=none) -%}
    {%- set found, views, wanted, common = {}, [], {}, dbt_delta._thresholds(none) -%}
    {%- for node in nodes -%}{%- do wanted.update({(node.schema ~ '.' ~ node.alias) | lower: node}) -%}{%- endfor -%}
    {%- set own = (nodes + [relation] if relation else nodes) | map(attribute='schema') | map('lower') | list -%}
    {%- set others = var('dbt_delta_clone_schemas', none) -%}
    {%- set others = none if others is none else dbt_delta._names(others) | map('lower') | list -%}
    {%- for schema in dbt_delta._schemas() if others is none or schema in own + others -%}
        {%- for row in dbt_delta._extended_tables(schema) -%}
            {%- set about = dbt_delta._information(row['information']) -%}
            {%- if about.get('Type') == 'VIEW' -%}
                {%- do views.append(about) -%}
            {%- elif about.get('Provider') == 'delta' and about.get('Location') -%}
                {%- set key = (schema ~ '.' ~ row['tableName']) | lower -%}
                {%- do found.update({key: dbt_delta._maintained(
                    api.Relation.create(schema=schema, identifier=row['tableName'], type='table'),
                    about.Location, wanted.get(key), common
                )}) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for view in views -%}{%- do dbt_delta._pin(view, found) -%}{%- endfor -%}
    {{- return(found.values() | list) -}}
{%- endmacro %}

{#
    A table to look after: {relation, location, node, thresholds, zorder, pins, steps, floor}. `pins` are
    {version or time, who} of views that read the table as it was.
#}
{% macro _maintained(relation, location, node, thresholds=none) -%}
    {{- return({
        'relation': relation,
        'location': dbt_delta._plain_location(location),
        'node': node,
        'thresholds': thresholds if node is none else dbt_delta._thresholds(node),
        'zorder': [] if node is none else dbt_delta._names(node.config.get('zorder')),
        'pins': [], 'steps': [], 'floor': none,
    }) -}}
{%- endmacro %}

{# A table's location as _plain_path has those in logs. #}
{% macro _plain_location(text) -%}
    {{- return(modules.re.sub('^file:/+', 'file:/', text).rstrip('/')) -}}
{%- endmacro %}

{# A listing fails if a table is dropped meanwhile: then it is made again. #}
{% macro _extended_tables(schema) -%}
    {%- set listing = 'show table extended in ' ~ dbt_delta._quoted(schema) ~ " like '*'" -%}
    {%- for number in range(3) -%}
        {%- set listed = dbt_delta._attempt(listing) -%}
        {%- if not listed.problem -%}{{- return(listed.rows) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(run_query(listing).rows) -}}
{%- endmacro %}

{# The lines `Name: value` of what Spark says of a table; of a name that comes twice, the first. #}
{% macro _information(text) -%}
    {%- set about = {} -%}
    {%- for line in text.splitlines() if ': ' in line -%}
        {%- set name, _, value = line.partition(': ') -%}
        {%- do about.setdefault(name, value) -%}
    {%- endfor -%}
    {{- return(about) -}}
{%- endmacro %}

{# Notes which tables a view reads at a version or a time that its text names. #}
{% macro _pin(view, tables) -%}
    {%- set text = (view.get('View Text') or '') | replace('`', '') -%}
    {%- set space = (view.get('View Catalog and Namespace') or '').split('.')[-1] -%}
    {%- for name, kind, value in modules.re.findall(
        "(?is)([\\w.]+)\\s+(?:for\\s+)?(?:system_)?(version|timestamp|time)\\s+as\\s+of\\s+('[^']*'|[0-9]+)", text
    ) -%}
        {%- set steps = name.split('.') -%}
        {%- set key = ((steps[-2] if steps | length > 1 else space) ~ '.' ~ steps[-1]) | lower -%}
        {%- if key in tables -%}
            {%- do tables[key].pins.append({
                kind | lower | replace('timestamp', 'time'): value.strip("'"),
                'who': 'view ' ~ view.Database ~ '.' ~ view.Table,
            }) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{#
    When maintenance is worth it: what the model's `maintenance` says, then the variable
    dbt_delta_maintenance, then the defaults.
#}
{% macro _thresholds(node) -%}
    {%- set thresholds = {
        'small_file_mb': 128,
        'min_small_files': 8,
        'deleted_share': 0.1,
        'unordered_share': 0.1,
        'reclaimable_share': 0.2,
        'target_file_mb': 1024,
    } -%}
    {%- set given = [('The variable dbt_delta_maintenance', var('dbt_delta_maintenance', {}))] -%}
    {%- if node is not none -%}
        {%- do given.append(('maintenance of ' ~ node.name, node.config.get('maintenance') or {})) -%}
    {%- endif -%}
    {%- for where, values in given -%}
        {%- if values is not mapping -%}
            {%- do dbt_delta._refuse(where ~ ' is ' ~ values ~ '. Give a dictionary, as in {min_small_files: 20}.') -%}
        {%- endif -%}
        {%- for name, value in values.items() -%}
            {%- if name not in thresholds -%}
                {%- do dbt_delta._refuse(
                    where ~ " has '" ~ name ~ "'. It may have " ~ thresholds.keys() | join(', ') ~ '.'
                ) -%}
            {%- elif value is not number or value is boolean or value <= 0 -%}
                {%- do dbt_delta._refuse(where ~ ' has ' ~ name ~ " '" ~ value ~ "'. Give a number above 0.") -%}
            {%- endif -%}
            {%- do thresholds.update({name: value}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {#- What OPTIMIZE writes is not small, however small it is. -#}
    {%- do thresholds.update({
        'small_file_bytes': ([thresholds.small_file_mb, thresholds.target_file_mb / 2] | min * 1048576) | int,
        'target_file_bytes': (thresholds.target_file_mb * 1048576) | int,
    }) -%}
    {{- return(thresholds) -}}
{%- endmacro %}
