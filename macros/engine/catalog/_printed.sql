{#
    Reads what DESCRIBE prints, if there is no session to ask. DESCRIBE redacts properties, appends sections, and does
    not quote names inside of types.
#}

{# See _existing. A Delta table takes two statements. #}
{% macro _describe_by_sql(relation) -%}
    {%- set name = dbt_delta._named(relation) -%}
    {%- set found = dbt_delta._described(run_query('describe extended ' ~ name).rows) -%}
    {%- if found.provider == 'delta' -%}
        {%- set detail = run_query('describe detail ' ~ name).rows[0] -%}
        {%- do found.update({
            'bytes': detail['sizeInBytes'] | int,
            'clustering': [],
            'properties': dbt_delta._printed_properties(detail['properties'], name),
        }) -%}
        {%- for path in dbt_delta._printed_list(detail['clusteringColumns'], name) -%}
            {%- do found.clustering.append(dbt_delta._path_steps(path) | join('.')) -%}
        {%- endfor -%}
        {%- for key in ('minReaderVersion', 'minWriterVersion') -%}
            {%- do found.properties.update({'delta.' ~ key: detail[key] | string}) -%}
        {%- endfor -%}
        {%- for feature in dbt_delta._printed_list(detail['tableFeatures'], name) -%}
            {%- do found.properties.update({'delta.feature.' ~ feature: 'supported'}) -%}
        {%- endfor -%}
    {%- else -%}
        {%- do found.update({'properties': dbt_delta._shown_properties(name) if found.properties else {}}) -%}
    {%- endif -%}
    {%- if dbt_delta._hides_names(found.columns) -%}
        {%- for column in dbt_delta._columns_by_view('select * from ' ~ name) -%}
            {%- do found.columns[loop.index0].update({'type': column.type}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(found) -}}
{%- endmacro %}

{# The answer of DESCRIBE EXTENDED as a dictionary; see _existing. `properties` is text here. #}
{% macro _described(rows) -%}
    {%- set columns, partitions, details = [], [], {} -%}
    {%- set at = namespace(part='columns') -%}
    {%- for row in rows -%}
        {%- set name, value = row[0], row[1] -%}
        {%- if value in ('', none) -%}
            {%- set parts = {'# Partition Information': 'partitions', '# Detailed Table Information': 'details'} -%}
            {#- Other sections may follow, such as column defaults, with the same names as details. -#}
            {%- set at.part = parts.get(name, 'none') if at.part != 'details' or name == '' else at.part -%}
        {%- elif name == '# col_name' and value == 'data_type' -%}
        {%- elif at.part == 'columns' -%}
            {%- do columns.append({'name': name, 'type': value, 'comment': row[2] or ''}) -%}
        {%- elif at.part == 'partitions' -%}
            {#- Here DESCRIBE quotes the names that need it. -#}
            {%- do partitions.extend(dbt_delta._names(name)) -%}
        {%- elif at.part == 'details' -%}
            {%- do details.update({name: value}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({
        'type': 'view' if details.get('Type') == 'VIEW' else 'table',
        'provider': details.get('Provider', '') | lower,
        'columns': columns,
        'partitions': partitions,
        'clustering': [],
        'comment': details.get('Comment', ''),
        'location': details.get('Location', ''),
        'owner': details.get('Owner', ''),
        'properties': details.get('Table Properties', '[]')[1:-1],
        'text': details.get('View Text', ''),
    }) -}}
{%- endmacro %}

{# An array in a result. A server sends it as text without escapes. #}
{% macro _printed_list(value, name) -%}
    {%- set found = dbt_delta._printed_json(value) -%}
    {%- if value is not none and found is none -%}
        {%- do dbt_delta._refuse(
            "The server's answer about " ~ name ~ ' is ambiguous: ' ~ value ~ ' contains a name with a quotation mark '
            ~ 'or a backslash. Nothing was changed. Rename that column, or use the embedded session.'
        ) -%}
    {%- endif -%}
    {{- return(found or []) -}}
{%- endmacro %}

{# A map in a result. If it is ambiguous, SHOW TBLPROPERTIES returns the values as rows. #}
{% macro _printed_properties(value, name) -%}
    {%- set found = dbt_delta._printed_json(value) -%}
    {{- return(dbt_delta._shown_properties(name) if found is none else found) -}}
{%- endmacro %}

{# An array or a map as JSON, if it is JSON: a server does not escape a quotation mark or a backslash. #}
{% macro _printed_json(value) -%}
    {%- if value is not string -%}{{- return(value) -}}{%- endif -%}
    {{- return(none if '\\' in value and not dbt_delta._is_session() else fromjson(value, none)) -}}
{%- endmacro %}

{# Properties as rows: the values are exact, or none if Spark redacts them. #}
{% macro _shown_properties(name) -%}
    {%- set found = {} -%}
    {%- for row in run_query('show tblproperties ' ~ name).rows if row[0] not in (
        'transient_lastDdlTime', 'clusteringColumns', 'delta.minReaderVersion', 'delta.minWriterVersion'
    ) -%}
        {%- do found.update({row[0]: none if row[1] == '*********(redacted)' else row[1]}) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# Whether types contain names of fields, which may be anything, or were cut off. #}
{% macro _hides_names(columns) -%}
    {%- set types = columns | map(attribute='type') | join(' ') -%}
    {{- return('struct<' in types or 'more fields' in types) -}}
{%- endmacro %}

{#
    The columns of a SELECT, from a view's description as JSON: only this one quotes the names of fields, and shows
    DEFAULTs.
#}
{% macro _columns_by_view(sql) -%}
    {%- set view = '__dbt_columns_' ~ local_md5(invocation_id ~ sql)[:10] -%}
    {%- do run_query('create or replace temporary view ' ~ view ~ ' as\n' ~ sql) -%}
    {%- set described = run_query('describe extended ' ~ view ~ ' as json').rows[0][0] -%}
    {%- do dbt_delta._drop_temporary_view(view) -%}
    {%- set columns = [] -%}
    {%- for column in fromjson(described).columns -%}
        {%- do columns.append({
            'name': column.name, 'type': dbt_delta._type_of_json(column.type), 'carried': column.get('default') is not none,
        }) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{# The text of a type from DESCRIBE .. AS JSON. #}
{% macro _type_of_json(type) -%}
    {%- if type.name == 'struct' -%}
        {%- set fields = [] -%}
        {%- for field in type.fields -%}
            {%- do fields.append({'name': field.name, 'type': dbt_delta._type_of_json(field.type)}) -%}
        {%- endfor -%}
        {{- return(dbt_delta._struct_type(fields)) -}}
    {%- elif type.name == 'array' -%}
        {{- return('array<' ~ dbt_delta._type_of_json(type.element_type) ~ '>') -}}
    {%- elif type.name == 'map' -%}
        {{- return(
            'map<' ~ dbt_delta._type_of_json(type.key_type) ~ ',' ~ dbt_delta._type_of_json(type.value_type) ~ '>'
        ) -}}
    {%- elif type.name == 'decimal' -%}
        {{- return('decimal(' ~ type.precision ~ ',' ~ type.scale ~ ')') -}}
    {%- elif type.name == 'string' and type.get('collation', 'UTF8_BINARY') != 'UTF8_BINARY' -%}
        {{- return('string collate ' ~ type.collation) -}}
    {%- elif type.name in ('varchar', 'char') -%}
        {{- return(type.name ~ '(' ~ type.length ~ ')') -}}
    {%- elif type.name == 'interval' and type.get('start_unit') -%}
        {%- set has_end = type.end_unit not in (none, type.start_unit) -%}
        {{- return('interval ' ~ type.start_unit ~ (' to ' ~ type.end_unit if has_end else '')) -}}
    {%- endif -%}
    {{- return({'timestamp_ltz': 'timestamp', 'integer': 'int'}.get(type.name, type.name)) -}}
{%- endmacro %}
