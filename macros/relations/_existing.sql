{#
    What the catalog holds under a relation's name, or none: {type: table or view, provider,
    columns: [{name, type, comment}], partitions, clustering, comment, location, owner, properties,
    text (of a view), listed}. One statement where dbt's listing has the relation; where it has not,
    the catalog is asked again, as a listing may have failed or be old: `listed` is then false.
#}
{% macro _existing(relation) -%}
    {%- set cached = adapter.get_relation(none, relation.schema, relation.identifier) -%}
    {%- if cached is none and not dbt_delta._is_in_catalog(relation) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set found = dbt_delta._describe(relation) -%}
    {%- set known = api.Relation.create(
        schema=relation.schema, identifier=relation.identifier, type=found.type
    ) -%}
    {%- if cached is none -%}
        {%- do adapter.cache_added(known) -%}
    {%- endif -%}
    {%- do found.update({'listed': cached is not none, 'relation': known}) -%}
    {{- return(found) -}}
{%- endmacro %}

{% macro _describe(relation) -%}
    {%- set found = dbt_delta._described(
        run_query('describe extended ' ~ dbt_delta._named(relation)).rows
    ) -%}
    {%- if 'more fields' in found.columns | map(attribute='type') | join -%}
        {#- DESCRIBE cuts wide structs short. -#}
        {%- for column in dbt_delta._columns_of('select * from ' ~ dbt_delta._named(relation)) -%}
            {%- do found.columns[loop.index0].update({'type': column.type}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(found) -}}
{%- endmacro %}

{% macro _is_in_catalog(relation) -%}
    {%- set rows = run_query(
        'show tables in ' ~ dbt_delta._quoted(relation.schema)
        ~ ' like ' ~ dbt_delta._literal(relation.identifier)
    ).rows -%}
    {%- for row in rows -%}
        {%- if row['tableName'] | lower == relation.identifier | lower and not row['isTemporary'] -%}
            {{- return(true) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}

{# The answer of DESCRIBE EXTENDED as a dictionary; see _existing. #}
{% macro _described(rows) -%}
    {%- set columns = [] -%}
    {%- set partitions = [] -%}
    {%- set details = {} -%}
    {%- set at = namespace(part='columns') -%}
    {%- for row in rows -%}
        {%- set name, value = row[0], row[1] -%}
        {%- if value in ('', none) or name == '# col_name' -%}
            {%- if name == '# Partition Information' -%}{%- set at.part = 'partitions' -%}
            {%- elif name == '# Detailed Table Information' -%}{%- set at.part = 'details' -%}
            {%- endif -%}
        {%- elif at.part == 'columns' -%}
            {%- do columns.append({'name': name, 'type': value, 'comment': row[2] or ''}) -%}
        {%- elif at.part == 'partitions' -%}
            {#- DESCRIBE quotes a name here that needs it. -#}
            {%- do partitions.extend(dbt_delta._names(name)) -%}
        {%- else -%}
            {%- do details.update({name: value}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set properties = details.get('Table Properties', '[]')[1:-1] -%}
    {%- set clustered = modules.re.search('(?:^|,)clusteringColumns=(\\[.*?\\])(?:,[^\\["]|$)', properties) -%}
    {%- set clustering = [] -%}
    {%- for path in (fromjson(clustered.group(1)) if clustered else []) -%}
        {%- do clustering.append(path | join('.')) -%}
    {%- endfor -%}
    {{- return({
        'type': 'view' if details.get('Type') == 'VIEW' else 'table',
        'provider': details.get('Provider', '') | lower,
        'columns': columns,
        'partitions': partitions,
        'clustering': clustering,
        'comment': details.get('Comment', ''),
        'location': details.get('Location', ''),
        'owner': details.get('Owner', ''),
        'properties': properties,
        'text': details.get('View Text', ''),
    }) -}}
{%- endmacro %}

{# Whether the text of a table's properties holds the pair; it is a plain list without escapes. #}
{% macro _has_property(properties, key, value) -%}
    {{- return((',' ~ key ~ '=' ~ dbt_delta._plain(value) ~ ',') in (',' ~ properties ~ ',')) -}}
{%- endmacro %}
