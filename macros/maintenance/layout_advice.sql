{#
    Lists tables whose layout makes reading slower than necessary: partitions that are too small or too many, columns
    without statistics that others filter by, columns to cluster by. It reads the logs and the SQL of the project, and
    changes nothing.
#}
{% macro layout_advice(select=none, state=none, output='text') -%}
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
            'advice': "tblproperties {'delta.dataSkippingStatsColumns': '" ~ (known[:31] + [name]) | join(',') ~ "'}, and a full refresh",
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
    {%- set readers = [] -%}
    {%- for other in graph.nodes.values()
        if node.unique_id in other.depends_on.nodes and other.resource_type in ('model', 'snapshot', 'analysis') -%}
        {%- do readers.append(other) -%}
    {%- endfor -%}
    {%- for column in table.state.columns -%}
        {%- set pattern = '(?i)(?<![\\w])`?' ~ modules.re.escape(column.name)
            ~ '`?\\s*(=|<|>|!=|\\bin\\b|\\bbetween\\b|\\blike\\b|\\bis\\s)|(=|<|>)\\s*(\\w+\\.)?`?'
            ~ modules.re.escape(column.name) ~ '`?(?![\\w(])' -%}
        {%- set names = [node.name ~ ' merges by it'] if column.name | lower in own | map('lower') else [] -%}
        {%- for other in readers -%}
            {%- set sql = modules.re.sub("(?s)--[^\\n]*|/\\*.*?\\*/|\\{#.*?#\\}|'[^']*'", ' ', other.raw_code or '') -%}
            {%- set filters = modules.re.findall(
                '(?is)\\b(?:where|on|having|qualify)\\b(.*?)(?=\\b(?:where|on|group|order)\\b|$)', sql
            ) | join(' ') -%}
            {%- if modules.re.search(pattern, filters) -%}
                {%- do names.append(other.name ~ ' filters by it') -%}
            {%- endif -%}
        {%- endfor -%}
        {%- if names -%}{%- do found.update({column.name: names}) -%}{%- endif -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# The columns for which Delta stores minimum and maximum: the first 32, or those that a property names. #}
{% macro _columns_with_statistics(state) -%}
    {%- set named = state.configuration.get('delta.dataSkippingStatsColumns') -%}
    {%- if named -%}{{- return(dbt_delta._names(named.split(','))) -}}{%- endif -%}
    {%- set limit = state.configuration.get('delta.dataSkippingNumIndexedCols', '32') | int -%}
    {%- set names = state.columns | map(attribute='name') | list -%}
    {{- return(names if limit < 0 else names[:limit]) -}}
{%- endmacro %}
