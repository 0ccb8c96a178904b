{#
    Lists tables whose layout makes reading slower than necessary: partitions that are too small or too many, columns
    without statistics that others filter by, columns to cluster by. It reads the logs and the SQL of the project, and
    changes nothing.
#}
{% macro layout_advice(select=none, state=none, output='text') -%}
    {%- do dbt_delta._in_format('check_operation')('layout_advice') -%}
    {%- do dbt_delta._check_choice('layout_advice: output', output, ['text', 'json']) -%}
    {%- set lines = [] -%}
    {%- for table in dbt_delta._selected_tables(select, state, 'layout_advice') if table.state is not none -%}
        {%- for advice in dbt_delta._advice(table) -%}
            {%- do lines.append(dict(advice, table=dbt_delta._bare(table.relation))) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if output == 'json' -%}
        {%- do print(tojson(lines)) -%}
    {%- elif not lines -%}
        {%- do print('No advice.') -%}
    {%- else -%}
        {%- do dbt_delta._print_table(['table', 'advice', 'why'], lines) -%}
    {%- endif -%}
{%- endmacro %}

{# What to change in the layout of a table: {advice, why}. #}
{% macro _advice(table) -%}
    {%- set state, target = table.state, table.thresholds.target_file_bytes -%}
    {%- set found = [] -%}
    {%- set bytes, parts = state.parts | sum(attribute='bytes'), state.parts | length -%}
    {%- set filtered = dbt_delta._filtered_columns(table) -%}
    {%- if state.partitions and parts > 1 -%}
        {%- set small = [] -%}
        {%- for part in state.parts if part.bytes < target / 8 -%}{%- do small.append(part) -%}{%- endfor -%}
        {%- set by = state.partitions | join(', ') -%}
        {%- if parts > 10000 or small | length > parts / 2 -%}
            {%- do found.append({
                'advice': 'partition by something coarser than ' ~ by ~ ', or liquid_clustered_by it instead',
                'why': '{:,}'.format(small | length) ~ ' of ' ~ '{:,}'.format(parts) ~ ' partitions are smaller than '
                    ~ dbt_delta._bytes((target / 8) | int) ~ ', ' ~ dbt_delta._bytes((bytes / parts) | int) ~ ' on average',
            }) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set known = dbt_delta._columns_with_statistics(state) -%}
    {%- for name, readers in filtered.items() if name not in known and name not in state.partitions -%}
        {%- do found.append({
            'advice': 'tblproperties ' ~ dbt_delta._statistics_properties(known[:31] + [name]) ~ ', and a full refresh',
            'why': name ~ ' has no statistics, so no file can be skipped by it; ' ~ dbt_delta._readers(readers),
        }) -%}
    {%- endfor -%}
    {%- if not state.partitions and not state.clustering and not table.zorder and filtered and bytes >= 2 * target -%}
        {%- set ordered = filtered.items() | sort(attribute='1.length', reverse=true) | map(attribute='0') | list -%}
        {%- do found.append({
            'advice': 'liquid_clustered_by ' ~ ordered[:2] | join(', '),
            'why': dbt_delta._bytes(bytes) ~ ' in no order; ' ~ dbt_delta._readers(filtered[ordered[0]]),
        }) -%}
    {%- endif -%}
    {{- return(found) -}}
{%- endmacro %}

{% macro _readers(names) -%}
    {{- return(
        names | join(', ') if names | length < 4 else names[:3] | join(', ') ~ ' and ' ~ (names | length - 3) ~ ' more'
    ) -}}
{%- endmacro %}

{#
    For each column, the names of those that filter or join by it: nodes that read the table and compare the column in
    their SQL, and the table's own merge by unique_key.
#}
{% macro _filtered_columns(table) -%}
    {%- set found = {} -%}
    {%- set node = table.node -%}
    {%- set own = dbt_delta._names(node.config.get('unique_key')) if node.config.get('unique_key') else [] -%}
    {%- set readers = {} -%}
    {%- for other in graph.nodes.values()
        if node.unique_id in other.depends_on.nodes and other.resource_type in ('model', 'snapshot', 'analysis') -%}
        {%- do readers.update({other.name: dbt_delta._compared_names(other.raw_code or '')}) -%}
    {%- endfor -%}
    {%- for column in table.state.columns -%}
        {%- set name = column.name | lower -%}
        {%- set names = [node.name ~ ' merges by it'] if name in own | map('lower') else [] -%}
        {%- for reader, compared in readers.items() if name in compared -%}
            {%- do names.append(reader ~ ' filters by it') -%}
        {%- endfor -%}
        {%- if names -%}{%- do found.update({column.name: names}) -%}{%- endif -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{#
    The names that SQL compares where it filters or joins, in lower case. The code of a model may have Jinja between.
#}
{% macro _compared_names(code) -%}
    {%- set tokens = dbt_delta._tokens(modules.re.sub('(?s)\\{#.*?#\\}', ' ', code)) -%}
    {%- set names, at = [], namespace(filters=false) -%}
    {%- for token in tokens -%}
        {%- if token in ('where', 'on', 'having', 'qualify') -%}
            {%- set at.filters = true -%}
        {%- elif token in ('group', 'order') -%}
            {%- set at.filters = false -%}
        {%- elif at.filters and token != 'not' and modules.re.match('`|[^\\W0-9]', token) -%}
            {%- set next = tokens[loop.index] if loop.index < tokens | length else '' -%}
            {#- With the name of its relation before it, or without. -#}
            {%- set start = loop.index0 - (2 if tokens[loop.index0 - 1] == '.' else 0) -%}
            {%- if next in ('=', '<', '>', '!', 'in', 'between', 'like', 'is', 'not')
                or (tokens[start - 1] in ('=', '<', '>') and next not in ('(', '.')) -%}
                {%- do names.append(dbt_delta._name_of(token)) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}
