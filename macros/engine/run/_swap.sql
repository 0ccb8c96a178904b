{#
    Gives the name of a relation to its finished successor, and then drops the relation. If the second of the two
    renames fails, the first is reverted. Delta caches logs by path, and a path now belongs to another table: the
    driver clears the cache (FROM VALUES keeps this on the driver).
#}
{% macro _swap(existing, successor) -%}
    {%- set old = dbt_delta._beside(existing.relation, 'old') -%}
    {%- do run_query(dbt_delta.get_swap_sql(existing, successor, old)) -%}
    {%- do dbt_delta._drop(old, existing.type) -%}
    {%- do adapter.cache_dropped(existing.relation) -%}
    {%- do adapter.cache_added(existing.relation.incorporate(type=successor.type)) -%}
{%- endmacro %}

{#
    The path of a table's files that are not in the catalog, or none if there are no such files. A server lists no
    folders: there it is the path that they would have.
#}
{% macro _folder_of(relation) -%}
    {%- set name = relation.identifier | lower -%}
    {%- if dbt_delta._is_session() or adapter.dbt_delta_attempt is not defined -%}
        {{- return(dbt_delta._folders(relation).get(name)) -}}
    {%- endif -%}
    {%- set places = graph.setdefault('dbt_delta_places', {}) -%}
    {%- if relation.schema not in places -%}
        {%- for row in run_query('describe schema ' ~ dbt_delta._quoted(relation.schema)).rows
            if row['info_name'] == 'Location' -%}
            {%- do places.update({relation.schema: row['info_value']}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(places[relation.schema] ~ '/' ~ name) -}}
{%- endmacro %}

{# Leftovers of killed runs of the model, at the time of the listing. #}
{% macro _drop_leftovers(relation) -%}
    {%- set own = (
        dbt_delta._beside(relation, '').identifier[-10:], dbt_delta._beside(relation, '', of='judged').identifier[-10:]
    ) -%}
    {%- set start = relation.identifier | lower ~ '__dbt_' -%}
    {%- for name, path in dbt_delta._folders(relation).items() if name[:-10] == start ~ 'tmp_' -%}
        {%- do adapter.dbt_delta_drop_folder(path) -%}
    {%- endfor -%}
    {%- for left in graph.get('dbt_delta_leftovers', {}).get(relation.schema | lower, [])
        if left.identifier[:-14] == start and not left.identifier.endswith(own) -%}
        {%- do dbt_delta._drop(left, left.type) -%}
    {%- endfor -%}
{%- endmacro %}
