{#
    Names, in lower case, of columns whose values are never shown: those that the YAML marks with `meta: {pii: true}`,
    also under `config`; `*` if it marks the node itself. Marked columns of the nodes that a node reads count, too, by
    name, because views and clones pass values on. If a field `a.b` is marked, all of `a` is.
#}
{% macro _masked_names(nodes) -%}
    {%- set masked, seen, open = [], {}, [] -%}
    {%- for node in nodes -%}
        {%- if dbt_delta._is_personal(node) -%}{%- do masked.append('*') -%}{%- endif -%}
        {%- do open.append(node) -%}
    {%- endfor -%}
    {#- The loop also visits what is appended to its list. -#}
    {%- for node in open if node.unique_id not in seen -%}
        {%- do seen.update({node.unique_id: true}) -%}
        {%- for name, column in (node.get('columns') or {}).items() if dbt_delta._is_personal(column) -%}
            {%- set bare = dbt_delta._names(name)[0] | lower -%}
            {%- do masked.extend([bare, bare.split('.')[0]]) -%}
        {%- endfor -%}
        {%- for id in (node.get('depends_on') or {}).get('nodes') or [] -%}
            {%- set parent = graph.nodes.get(id) or graph.sources.get(id) -%}
            {%- if parent -%}{%- do open.append(parent) -%}{%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if masked -%}
        {#- landed_csv stores a rejected line as a whole. -#}
        {%- do masked.extend(['_rejected_line', '_rejected_reason']) -%}
    {%- endif -%}
    {{- return(masked | unique | list) -}}
{%- endmacro %}

{# Whether the YAML marks a node or a column as personal data. #}
{% macro _is_personal(entry) -%}
    {%- for meta in (entry.get('meta'), (entry.get('config') or {}).get('meta')) if meta is mapping -%}
        {%- set mark = meta.get('pii') -%}
        {%- if mark and mark | string | lower not in ('false', 'no', 'off', '0') -%}{{- return(true) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{#
    The same for a relation, from the nodes and sources with its schema and name. If there are none, those with its
    name count; if there are none of these, all count.
#}
{% macro _masked_columns(relation) -%}
    {%- set same, namesakes, all = [], [], [] -%}
    {%- for node in graph.nodes.values() | list + graph.sources.values() | list
        if node.resource_type in ('model', 'seed', 'snapshot', 'source') -%}
        {%- set name = node.identifier if node.resource_type == 'source' else node.alias -%}
        {%- do all.append(node) -%}
        {%- if name | lower == relation.identifier | lower -%}
            {%- do namesakes.append(node) -%}
            {%- if node.schema | lower == relation.schema | lower -%}{%- do same.append(node) -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(dbt_delta._masked_names(same or namesakes or all)) -}}
{%- endmacro %}

{# The same for the model that runs. #}
{% macro _masked_here() -%}
    {{- return(dbt_delta._masked_names([model] if model is defined and model else [])) -}}
{%- endmacro %}

{# Removes values from Spark's errors if columns are masked; only the plugin can do this. #}
{% macro _hide_values(masked) -%}
    {%- if adapter.dbt_delta_hide is defined -%}
        {%- do adapter.dbt_delta_hide(masked | length > 0) -%}
    {%- endif -%}
{%- endmacro %}

{# Whether a column is masked, or an expression that names a masked column; a snapshot's key may be one. #}
{% macro _is_masked(name, masked) -%}
    {%- if '*' in masked or name | lower in masked -%}{{- return(true) -}}{%- endif -%}
    {%- for marked in masked if dbt_delta._mentions(name, [marked]) -%}{{- return(true) -}}{%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# Values by name, with stars for masked values. #}
{% macro _starred(values, masked) -%}
    {%- set shown = {} -%}
    {%- for name, value in values.items() -%}
        {%- do shown.update({name: '***' if value is not none and dbt_delta._is_masked(name, masked) else value}) -%}
    {%- endfor -%}
    {{- return(shown) -}}
{%- endmacro %}

{# Fields {name, value} as JSON for messages, with NULLs, and stars for masked values. #}
{% macro _shown_json(fields, masked) -%}
    {%- set parts = [] -%}
    {%- for field in fields -%}
        {%- do parts.append(dbt_delta._literal(field.name) ~ ', ' ~ (
            'if(' ~ field.value ~ " is null, null, '***')" if dbt_delta._is_masked(field.name, masked) else field.value
        )) -%}
    {%- endfor -%}
    {{- return('to_json(named_struct(' ~ parts | join(', ') ~ "), map('ignoreNullFields', 'false'))") -}}
{%- endmacro %}
