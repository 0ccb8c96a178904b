{#
    Removes the files of tables that have the subjects: those in which deletion vectors hide rows are written anew, and
    VACUUM removes what has left the tables. Tables without such files are left alone.
#}
{% macro _clean_files(tables, record, retention_hours) -%}
    {%- set erasure, holding = adapter.dbt_delta_erasure(), [] -%}
    {%- set scans = erasure.scan(dbt_delta._scanned(tables), record) -%}
    {%- for table in tables -%}
        {%- set name = dbt_delta._bare(table.relation) -%}
        {%- do dbt_delta._execute(dbt_delta._purge_sql(table.relation)) if name in erasure.live(scans) -%}
        {%- do holding.append(table)
            if dbt_delta._holding({name: scans[name]}) or table.state.configuration.get('dbt_delta.retention') -%}
    {%- endfor -%}
    {%- for table in (dbt_delta._with_floors('erase', holding) if holding else []) -%}
        {%- set table = dbt_delta._table_now(table) -%}
        {%- set name, floor = dbt_delta._bare(table.relation), table.floor -%}
        {%- set hours = floor.hours if retention_hours is none else [retention_hours, floor.hard_hours] | max -%}
        {%- set done = dbt_delta._vacuum(table, hours, 'full') -%}
        {%- do print('vacuum ' ~ name ~ ', files that left it more than ' ~ dbt_delta._hours_text(hours) ~ ' ago: '
            ~ (done.problem or done.done)) -%}
    {%- endfor -%}
{%- endmacro %}

{#
    Scans the tables of a certificate and writes it. Returns {request, live}: the tables whose newest version has a
    subject.
#}
{% macro _certify(record, values_file) -%}
    {%- do dbt_delta._know_rewritten(record) -%}
    {%- set erasure, tables, missing = adapter.dbt_delta_erasure(), [], [] -%}
    {%- set schemas = dbt_delta._schemas() -%}
    {%- for name, table in record.tables.items() -%}
        {%- set relation = api.Relation.create(schema=table.schema, identifier=table.identifier) -%}
        {%- if dbt_delta._is_there(relation, schemas) -%}
            {%- do tables.append({'relation': relation, 'columns': [], 'action': 'delete'}) -%}
        {%- else -%}
            {%- do missing.append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set found, given, after = dbt_delta._with_floors('erase_verify', tables), {}, {} -%}
    {%- for name, table in dbt_delta._scanned(found).items() -%}
        {%- do given.update({name: dict(table, columns=record.tables[name].columns)}) -%}
    {%- endfor -%}
    {%- set folders = dbt_delta._searched_folders(
        'erase_verify', record.get('landing', {}).get('folders', {}), record.subjects
    ) -%}
    {%- set scans = dict(erasure.scan(given, record, values_file), **erasure.scans_of_landing(folders)) -%}
    {%- do after.update(record.tables) -%}
    {%- for table in found -%}
        {%- set name = dbt_delta._bare(table.relation) -%}
        {%- do after.update({name: dict(
            record.tables[name], after=table.state.version, holds=dbt_delta._holders(scans[name]), **scans[name].known
        )}) -%}
    {%- endfor -%}
    {%- set record = dict(record, tables=after, streams=erasure.left(record.get('streams', {}))) -%}
    {%- set record = erasure.checked(record, scans, missing) -%}
    {%- set page = erasure.write(dbt_delta._erasure_folder(), record) -%}
    {%- for line in erasure.open(record) -%}{%- do print(line) -%}{%- endfor -%}
    {%- for line in erasure.stream_lines(record) -%}{%- do print('outside: ' ~ line) -%}{%- endfor -%}
    {%- do print('Erasure ' ~ record.request ~ ' is ' ~ record.state ~ ': ' ~ page) -%}
    {%- set live = [] -%}
    {%- for name in erasure.live(scans) if not record.tables.get(name, {}).get('is_requests') -%}
        {%- do live.append(name) -%}
    {%- endfor -%}
    {{- return({'request': record.request, 'live': live}) -}}
{%- endmacro %}

{# Refuses what _certify found in newest versions. #}
{% macro _refuse_found(certified) -%}
    {%- set texts = [] -%}
    {%- for one in certified if one.live -%}
        {%- do texts.append(one.request ~ ': ' ~ one.live | join(', ')) -%}
    {%- endfor -%}
    {%- if texts -%}
        {%- do dbt_delta._refuse('Newest versions still have subjects of erasure ' ~ texts | join(', of erasure ')) -%}
    {%- endif -%}
{%- endmacro %}
