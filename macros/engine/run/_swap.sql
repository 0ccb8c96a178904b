{#
    Gives the name of a relation to its finished successor, and then drops the relation. If the second of the two
    renames fails, the first is reverted.
#}
{% macro _swap(existing, successor) -%}
    {%- set old = dbt_delta._beside(existing.relation, 'old') -%}
    {%- do run_query(dbt_delta.get_swap_sql(existing, successor, old)) -%}
    {%- do dbt_delta._drop(old, existing.type) -%}
    {%- do adapter.cache_dropped(existing.relation) -%}
    {%- do adapter.cache_added(existing.relation.incorporate(type=successor.type)) -%}
{%- endmacro %}

{#
    Before a table is made, or another relation takes its place: a view of readers names a version of it, and the new one
    has other versions. Refuses to replace what readers see, or have a pin on. If it is gone, they see nothing, and would
    see the new one before it is published: the view is dropped.
#}
{% macro _check_readers(relation, existing) -%}
    {%- set name = dbt_delta._bare(relation) -%}
    {%- for view in dbt_delta._readers_of(relation) -%}
        {%- set shown = view.schema ~ '.' ~ view.name -%}
        {%- if existing is not none -%}
            {%- do dbt_delta._refuse(
                name ~ ' has to be replaced by another relation, as Delta cannot turn it into what the model asks for, '
                ~ 'but readers see a version of it through ' ~ shown ~ '. It was not changed. Drop that view before, and '
                ~ 'the next publication makes it again; or give the model another alias, and readers find the old rows '
                ~ 'until it is published.'
            ) -%}
        {%- endif -%}
        {%- do dbt_delta._drop(api.Relation.create(schema=view.schema, identifier=view.name), 'view') -%}
        {%- do log(
            name ~ ' was dropped by somebody, and is made anew. Its view ' ~ shown ~ ' showed nothing. Readers find it again '
            ~ 'with the next publication.', info=true
        ) -%}
    {%- endfor -%}
    {%- for key in (existing.properties if existing is not none else {}) if dbt_delta._is_pin(key) -%}
        {%- do dbt_delta._refuse(
            name ~ ' has to be replaced by another relation, but its property ' ~ key ~ ' says that a reader needs version '
            ~ existing.properties[key] ~ ' of it. It was not changed. Unset the property, or give the model another alias.'
        ) -%}
    {%- endfor -%}
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
    {%- set places = dbt_delta._memory('places') -%}
    {%- if relation.schema not in places -%}
        {%- for row in run_query('describe schema ' ~ dbt_delta._quoted(relation.schema)).rows
            if row['info_name'] == 'Location' -%}
            {%- do places.update({relation.schema: row['info_value']}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(places[relation.schema] ~ '/' ~ name) -}}
{%- endmacro %}

{#
    Leftovers of killed runs of the model, at the time of the listing. A run that lives may be writing to a folder, whose
    table the catalog has only when all rows are there.
#}
{% macro _drop_leftovers(relation) -%}
    {%- set own = (
        dbt_delta._beside(relation, '').identifier[-10:], dbt_delta._beside(relation, '', of='judged').identifier[-10:]
    ) -%}
    {%- set start = relation.identifier | lower ~ '__dbt_' -%}
    {%- for name, path in dbt_delta._folders(relation).items() if name[:-10] == start ~ 'tmp_' -%}
        {%- do adapter.dbt_delta_drop_folder(path, idle_hours=12) -%}
    {%- endfor -%}
    {%- for left in dbt_delta._leftovers(relation)
        if (left.identifier | lower)[:-14] == start and not left.identifier.endswith(own) -%}
        {%- do dbt_delta._drop(left, left.type) -%}
    {%- endfor -%}
{%- endmacro %}
