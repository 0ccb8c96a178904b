{#
    Names, in lower case, of columns whose values are never shown: those that the YAML marks with
    `meta: {pii: true}`, also under `config`; `*` where it marks the node itself. What a node reads is marked as well,
    by name, as views, clones and the like hand values on. Of `a.b`, a field's documentation, all of `a` is marked.
#}
{% macro _masked_names(nodes) -%}
    {%- set masked, seen, open = [], {}, [] -%}
    {%- for node in nodes -%}
        {%- if dbt_delta._is_personal(node) -%}{%- do masked.append('*') -%}{%- endif -%}
        {%- do open.append(node) -%}
    {%- endfor -%}
    {#- A loop goes on over what is appended to its list. -#}
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
        {#- landed_csv keeps lines that it rejects in one piece. -#}
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
    The same of a relation: of the nodes and sources that are it. Where none has its schema and name, those with
    its name may be; where no name is its own, any. All that may be are taken together.
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

{# The same of the model that runs. #}
{% macro _masked_here() -%}
    {{- return(dbt_delta._masked_names([model] if model is defined and model else [])) -}}
{%- endmacro %}

{# Has Spark's own errors leave out values where columns are masked; the plugin alone can. #}
{% macro _hide_values(masked) -%}
    {%- if adapter.dbt_delta_hide is defined -%}
        {%- do adapter.dbt_delta_hide(masked | length > 0) -%}
    {%- endif -%}
{%- endmacro %}

{# Whether a column is masked, or an expression, as a snapshot's key may be, that names one that is. #}
{% macro _is_masked(name, masked) -%}
    {%- if '*' in masked or name | lower in masked -%}{{- return(true) -}}{%- endif -%}
    {%- for marked in masked if dbt_delta._mentions(name, [marked]) -%}{{- return(true) -}}{%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# Values by name, stars in place of those that are masked. #}
{% macro _starred(values, masked) -%}
    {%- set shown = {} -%}
    {%- for name, value in values.items() -%}
        {%- do shown.update({name: '***' if value is not none and dbt_delta._is_masked(name, masked) else value}) -%}
    {%- endfor -%}
    {{- return(shown) -}}
{%- endmacro %}

{# Values as a struct of JSON, as messages show them: {name, value}, NULLs too, stars for those that are masked. #}
{% macro _shown_json(fields, masked) -%}
    {%- set parts = [] -%}
    {%- for field in fields -%}
        {%- do parts.append(dbt_delta._literal(field.name) ~ ', ' ~ (
            'if(' ~ field.value ~ " is null, null, '***')" if dbt_delta._is_masked(field.name, masked) else field.value
        )) -%}
    {%- endfor -%}
    {{- return('to_json(named_struct(' ~ parts | join(', ') ~ "), map('ignoreNullFields', 'false'))") -}}
{%- endmacro %}
