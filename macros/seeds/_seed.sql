{#
    The rows of a seed reach Spark as JSON in string literals, each row a list of texts. Spark parses one literal at
    once, and casts from text are exact; VALUES with casts would be one expression per cell. A variable of the session
    holds the rows, so they are evaluated once; it is dropped at the end.
#}

{#
    The seed: {columns: [{name, type, is_certain}], chunks, lines, table}. The plugin reads the file itself
    (src/dbt_delta/session/seed.py). Without it dbt reads the file, and the line numbers are not known.
#}
{% macro _load_seed() -%}
    {%- if adapter.dbt_delta_seed is defined -%}
        {{- return(adapter.dbt_delta_seed(model, dbt_delta._masked_here())) -}}
    {%- endif -%}
    {%- set table = load_agate_table() -%}
    {%- set columns = dbt_delta._agate_columns(table) -%}
    {{- return({
        'columns': columns, 'chunks': dbt_delta._agate_chunks(table, columns), 'lines': [], 'table': table,
    }) -}}
{%- endmacro %}

{% macro _agate_columns(table) -%}
    {%- set given, columns = {}, [] -%}
    {%- for name, type in (config.get('column_types') or {}).items() -%}
        {%- do given.update({name | lower: type}) -%}
    {%- endfor -%}
    {%- for name in table.column_names -%}
        {%- do columns.append({
            'name': name,
            'type': given.get(name | lower) or adapter.convert_type(table, loop.index0),
            'is_certain': false,
        }) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}

{# The rows of dbt's table as JSON texts of about a megabyte each; at least one. #}
{% macro _agate_chunks(table, columns) -%}
    {%- set types = columns | map(attribute='type') | list -%}
    {%- set chunks, chunk = [], [] -%}
    {%- set at = namespace(size=0) -%}
    {%- for row in table.rows -%}
        {%- set cells = [] -%}
        {%- for cell in row -%}
            {#- No macro per cell: calling one takes longer than all of this. -#}
            {%- do cells.append(
                cell if cell is none or cell is string
                else cell | string | lower if cell is boolean
                else cell | int | string if cell is number and types[loop.index0] == 'bigint'
                else '{:f}'.format(cell) if cell is number
                else cell.isoformat()
            ) -%}
        {%- endfor -%}
        {%- set text = tojson(cells) -%}
        {%- if chunk and at.size + text | length > 1000000 -%}
            {%- do chunks.append('[' ~ chunk | join(',') ~ ']') -%}
            {%- do chunk.clear() -%}
            {%- set at.size = 0 -%}
        {%- endif -%}
        {%- do chunk.append(text) -%}
        {%- set at.size = at.size + text | length -%}
    {%- endfor -%}
    {{- return(chunks + ['[' ~ chunk | join(',') ~ ']']) -}}
{%- endmacro %}

{#
    Loads the rows into a variable of the session, and returns its name. Each statement loads one chunk, and the log
    shows its beginning.
#}
{% macro _declare_rows(chunks) -%}
    {%- set is_hidden = dbt_delta._masked_here() | length > 0 -%}
    {%- set variable = dbt_delta._quoted(dbt_delta._beside(this, 'rows').identifier) -%}
    {%- if chunks | length == 1 -%}
        {%- do dbt_delta._execute(dbt_delta.get_declare_rows_sql(variable, chunks[0], is_hidden), has_data=true) -%}
        {{- return(variable) -}}
    {%- endif -%}
    {%- set parts = [] -%}
    {%- for chunk in chunks -%}
        {%- set part = variable[:-1] ~ '_' ~ loop.index ~ '`' -%}
        {%- do dbt_delta._execute(dbt_delta.get_declare_rows_sql(part, chunk, is_hidden), has_data=true) -%}
        {%- do parts.append(part) -%}
    {%- endfor -%}
    {%- do dbt_delta._execute(
        'declare or replace variable ' ~ variable ~ ' default concat(' ~ parts | join(', ') ~ ')'
    ) -%}
    {%- for part in parts -%}{%- do dbt_delta._drop_rows(part) -%}{%- endfor -%}
    {{- return(variable) -}}
{%- endmacro %}

{% macro _drop_rows(variable) -%}
    {%- do dbt_delta._execute('drop temporary variable if exists ' ~ variable) -%}
{%- endmacro %}

{#- The log shows the first 512 characters: they are blanks if the rows must not be shown. -#}
{% macro get_declare_rows_sql(variable, chunk, is_hidden=false) -%}
declare or replace variable {{ variable }} array<array<string>> default
from_json({{ ' ' * 512 if is_hidden }}{{ dbt_delta._literal(chunk) }}, 'array<array<string>>', map('mode', 'FAILFAST'))
{%- endmacro %}

{% macro get_seed_sql(columns, variable) -%}
    {%- set cells = [] -%}
    {%- for column in columns -%}
        {%- do cells.append(
            'cast(cells[' ~ loop.index0 ~ '] as ' ~ column.type ~ ') as ' ~ dbt_delta._quoted(column.name)
        ) -%}
    {%- endfor -%}
select
    {{ cells | join(',\n    ') }}
from (select explode({{ variable }}) as cells)
{% endmacro %}

{# Refuses a cell that does not fit the type of its column exactly, before anything is written. #}
{% macro _check_cells(seed, variable) -%}
    {%- for column in seed.columns if dbt_delta._type_kind(column.type | lower | replace(' ', '')) != 'atomic' -%}
        {%- do dbt_delta._refuse(
            model.original_file_path ~ ': column_types gives ' ~ column.name ~ ' the type ' ~ column.type
            ~ ', which a cell cannot hold. Load it as string, and convert it in a model, for example with from_json.'
        ) -%}
    {%- endfor -%}
    {%- set sql = dbt_delta.get_wrong_cell_sql(seed.columns, variable) -%}
    {%- set found = dbt_delta._ask(sql).rows if sql else [] -%}
    {%- if found -%}
        {%- do dbt_delta._drop_rows(variable) -%}
        {%- set number = found[0]['number'] | int -%}
        {%- set column = seed.columns[found[0]['position'] | int] -%}
        {%- do dbt_delta._refuse(
            model.original_file_path
            ~ (', line ' ~ seed.lines[number] if seed.lines else ', row ' ~ (number + 1) ~ ' below the header')
            ~ ', column ' ~ column.name ~ ": '"
            ~ ('***' if dbt_delta._is_masked(column.name, dbt_delta._masked_here())
                else found[0]['cell'] | replace('\n', '\\n'))
            ~ "' is not a valid " ~ column.type ~ '. Correct the cell, or column_types.'
        ) -%}
    {%- endif -%}
{%- endmacro %}

{# The first cell that does not fit: the number of its row, the position of its column, its text. #}
{% macro get_wrong_cell_sql(columns, variable) -%}
    {%- set tests = [] -%}
    {%- for column in columns if not column.is_certain -%}
        {%- set position = columns.index(column) -%}
        {%- set condition = dbt_delta._misfit('cells[' ~ position ~ ']', column.type) -%}
        {%- if condition -%}
            {%- do tests.append('when ' ~ condition ~ ' then ' ~ position) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if tests %}
select number, position, left(cells[position], 80) as cell
from (
    select number, cells, case {{ tests | join(' ') }} end as position
    from (select posexplode({{ variable }}) as (number, cells))
)
where position is not null
order by number
limit 1
    {%- endif -%}
{%- endmacro %}
