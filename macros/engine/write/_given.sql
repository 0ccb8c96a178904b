{#
    Inserts the given rows of a unit test into the table before its run. Columns that no row names are left to the
    table. `meta`: the names of a snapshot's own columns, or none. A row without an id gets one; without another time it
    changed when it began.
#}
{% macro _given_rows_sql(relation, rows, columns, meta) -%}
    {%- set types, named = {}, [] -%}
    {%- for column in columns -%}{%- do types.update({column.name | lower: column.type}) -%}{%- endfor -%}
    {%- for row in rows -%}{%- do named.extend(row.keys() | map('lower')) -%}{%- endfor -%}
    {%- set own = {} -%}
    {%- if meta is not none and meta.dbt_scd_id | lower in types -%}
        {%- for name in (meta.dbt_scd_id, meta.dbt_updated_at) if name | lower not in named -%}
            {%- do own.update({name | lower: name}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set written = [] -%}
    {%- for column in columns if column.name | lower in named or column.name | lower in own -%}
        {%- do written.append(column) -%}
    {%- endfor -%}
    {%- set selects = [] -%}
    {%- for row in rows -%}
        {%- set given, values = format_row(row, types), [] -%}
        {%- if meta is not none and own -%}
            {%- set given = dict(
                {meta.dbt_scd_id | lower: "'given " ~ loop.index ~ "'",
                meta.dbt_updated_at | lower: given.get(meta.dbt_valid_from | lower, 'null')}, **given
            ) -%}
        {%- endif -%}
        {%- for column in written -%}
            {%- do values.append(given.get(column.name | lower, 'null') | trim) -%}
        {%- endfor -%}
        {%- do selects.append('select ' ~ values | join(', ')) -%}
    {%- endfor -%}
    {{- return(
        'insert into ' ~ dbt_delta._named(relation) ~ ' (' ~ dbt_delta._quoted_list(written | map(attribute='name'))
        ~ ')\n' ~ selects | join('\nunion all\n')
    ) -}}
{%- endmacro %}
