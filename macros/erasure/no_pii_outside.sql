{#
    Columns of other tables of the project that are not declared as personal, and have this column's name or values
    (see _erasure__macros.yml).
#}
{% test no_pii_outside(model, column_name, sample=1000, min_values=3) -%}
    {%- if model is string -%}
        {%- do dbt_delta._refuse('no_pii_outside looks at a whole table. Remove `where` from its config.') -%}
    {%- endif -%}
    {%- set places = dbt_delta._undeclared_columns(model) if execute else [] -%}
    {{- dbt_delta.get_pii_outside_sql(model, dbt_delta._names(column_name)[0], places, sample, min_values) -}}
{%- endtest %}

{# The SELECT of that test: `places` are {relation, name, has_text} of columns; values are compared where has_text. #}
{% macro get_pii_outside_sql(relation, name, places, sample=1000, min_values=3) -%}
with personal as (

    -- Short values are in other columns by chance.
    select cast({{ dbt_delta._quoted(name) }} as string) as value
    from {{ dbt_delta._named(relation) }}
    where length(cast({{ dbt_delta._quoted(name) }} as string)) >= 4
    group by value
    order by xxhash64(value), value
    limit {{ sample | int }}

)

select
    cast(null as string) as relation,
    cast(null as string) as column,
    cast(null as string) as has_the_same,
    cast(null as bigint) as value_count
where false
{%- for place in places %}
{%- set text = dbt_delta._literal(dbt_delta._bare(place.relation)) ~ ', ' ~ dbt_delta._literal(place.name) %}
{%- if place.name | lower == name | lower %}
union all
select {{ text }}, 'name', null
{%- elif place.has_text %}
union all
select {{ text }}, 'values', count(distinct {{ dbt_delta._quoted(place.name) }})
from {{ dbt_delta._named(place.relation) }}
where {{ dbt_delta._quoted(place.name) }} in (select value from personal)
having count(distinct {{ dbt_delta._quoted(place.name) }}) >= {{ min_values | int }}
{%- endif %}
{%- endfor %}
{%- endmacro %}

{# The columns of the project's other models, seeds and snapshots that have no pii and no subject in their YAML. #}
{% macro _undeclared_columns(relation) -%}
    {%- set places = [] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type in ('model', 'seed', 'snapshot') and node.config.materialized != 'ephemeral'
            and not dbt_delta._is_personal(node) -%}
        {%- set other = api.Relation.create(schema=node.schema, identifier=node.alias) -%}
        {%- set is_same = dbt_delta._bare(other) | lower == dbt_delta._bare(relation) | lower -%}
        {%- set found = none if is_same else dbt_delta._existing(other) -%}
        {%- set declared = [] -%}
        {%- for name, column in (node.get('columns') or {}).items()
            if dbt_delta._is_personal(column) or dbt_delta._subject_of(column, node) -%}
            {%- do declared.append(dbt_delta._names(name)[0] | lower) -%}
        {%- endfor -%}
        {%- for column in (found.columns if found is not none else []) if column.name | lower not in declared -%}
            {%- do places.append({
                'relation': other, 'name': column.name,
                'has_text': found.type == 'table' and dbt_delta._type_name(column.type) in ('string', 'varchar', 'char'),
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(places) -}}
{%- endmacro %}
