{#
    What the catalog has in schemas: {schema, name, type, provider, location}; of a view also `text`, `namespace`, the
    schema of names without one, and `zone`, the time zone that it keeps. `text` and `zone` are none if they are not
    known. The session's objects know everything at once. Schemas that `may_miss` have nothing then.
#}
{% macro _listing(schemas, may_miss=false) -%}
    {%- set found = none -%}
    {%- if adapter.dbt_delta_listing is defined -%}
        {%- set found = adapter.dbt_delta_listing(schemas) -%}
    {%- endif -%}
    {%- if found is not none -%}{{- return(found) -}}{%- endif -%}
    {{- return(dbt_delta._listing_by_sql(dbt_delta._present(schemas) if may_miss else schemas)) -}}
{%- endmacro %}

{# A server prints; if the answer is ambiguous, it is asked for that one relation. #}
{% macro _listing_by_sql(schemas) -%}
    {%- set found = [] -%}
    {%- for schema in schemas -%}
        {%- for row in dbt_delta._extended_tables(schema) if not row['isTemporary'] -%}
            {%- set relation = api.Relation.create(schema=schema, identifier=row['tableName']) -%}
            {%- set entry = dbt_delta._printed_entry(relation, row['information']) -%}
            {%- if entry.type == 'view' -%}
                {%- do entry.update(dbt_delta._view_by_sql(relation, row['information'])) -%}
            {%- endif -%}
            {%- do found.append(dict(entry, schema=schema, name=row['tableName'])) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# A listing fails if a table is dropped meanwhile: then it is repeated. #}
{% macro _extended_tables(schema) -%}
    {%- set listing = 'show table extended in ' ~ dbt_delta._quoted(schema) ~ " like '*'" -%}
    {%- for number in range(3) -%}
        {%- set listed = dbt_delta._attempt(listing) -%}
        {%- if not listed.problem -%}{{- return(listed.rows) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(run_query(listing).rows) -}}
{%- endmacro %}

{# {type, provider, location} from the lines `Name: value`. A comment may contain such lines, too. #}
{% macro _printed_entry(relation, information) -%}
    {%- set about = {} -%}
    {%- for name in ('Type', 'Provider', 'Location') -%}
        {%- set values = modules.re.findall('(?m)^' ~ name ~ ': (.*)$', information) -%}
        {%- if values | length > 1 -%}
            {%- set found = dbt_delta._described(run_query('describe extended ' ~ dbt_delta._named(relation)).rows) -%}
            {{- return({'type': found.type, 'provider': found.provider, 'location': found.location}) -}}
        {%- endif -%}
        {%- do about.update({name: values[0] if values else ''}) -%}
    {%- endfor -%}
    {{- return({
        'type': 'view' if about.Type == 'VIEW' else 'table',
        'provider': about.Provider | lower, 'location': about.Location,
    }) -}}
{%- endmacro %}

{# A view's text from JSON; not asked for if the printed text, which contains it, reads no old version. #}
{% macro _view_by_sql(relation, information) -%}
    {%- if not dbt_delta._may_travel(information) -%}
        {{- return({'text': '', 'namespace': none, 'zone': none}) -}}
    {%- endif -%}
    {%- set listed = dbt_delta._attempt('describe extended ' ~ dbt_delta._named(relation) ~ ' as json') -%}
    {%- set about = {} if listed.problem else fromjson(listed.rows[0][0], {}) -%}
    {%- set steps = dbt_delta._path_steps(about.get('view_catalog_and_namespace') or '') -%}
    {{- return({
        'text': about.get('view_text'), 'namespace': steps[-1] if steps else none,
        'zone': about.get('view_creation_spark_configuration', {}).get('spark.sql.session.timeZone'),
    }) -}}
{%- endmacro %}
