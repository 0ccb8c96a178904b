{# What landed files have in common: the columns of their tables, the files, and why one gives no rows. #}

{# The columns that landing macros add. #}
{% macro _ledger_columns() -%}
    {{- return([
        dbt_delta._in_format('file_column')(), '_line', '_file_modified_at', '_file_size', '_file_hash', '_load_id',
        '_rejected_reason', '_rejected_line',
    ]) -}}
{%- endmacro %}

{# Whether a table with these columns says which file a row is from; it may leave out what was rejected. #}
{% macro _is_ledger(columns) -%}
    {%- for name in dbt_delta._ledger_columns()[:6] if dbt_delta._column(columns, name) is none -%}
        {{- return(false) -}}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}

{# Whether it has what was rejected. #}
{% macro _has_rejects(columns) -%}
    {%- for name in dbt_delta._ledger_columns()[6:] if dbt_delta._column(columns, name) is none -%}
        {{- return(false) -}}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}

{#
    The text of a rejected row that may have values: its line, or the header of a file. Other reasons have numbers of
    ours.
#}
{% macro _rejected_text() -%}
    {{- return(
        'case when _rejected_line is not null then _rejected_line when startswith(_rejected_reason, '
        ~ dbt_delta._literal(dbt_delta._header_reason()) ~ ') then _rejected_reason end'
    ) -}}
{%- endmacro %}

{# How reasons begin that show a header. #}
{% macro _header_reason() -%}{{- return('the header ') -}}{%- endmacro %}

{# Chooses files by their paths. #}
{% macro _in_files(files) -%}
    {%- if not files -%}{{- return('false') -}}{%- endif -%}
    {{- return('_metadata.file_path in (' ~ dbt_delta._literals(files) | join(', ') ~ ')') -}}
{%- endmacro %}

{# The text of a file; a byte order mark is not data. #}
{% macro _file_text() -%}
    {{- return("regexp_replace(value, '^\\uFEFF', '')") -}}
{%- endmacro %}

{#
    The CTE of files with the reason why one gives no rows, by WHEN clauses before and after the look whether its
    content was loaded before.
#}
{% macro _judged_files_sql(ledger, before, after=[]) -%}
judged as (

    select
        files.*,
        case
            {{ before | join('\n            ') }}
            {%- if ledger is not none %}
            when loaded._file is not null
                then concat('same content as ', loaded._file)
            {%- endif %}
            when row_number() over same_content > 1
                then concat('same content as ', first_value(files._file) over same_content)
            {{ after | join('\n            ') }}
        end as file_problem
    from files
    {%- if ledger is not none %}
    left join (
        select
            _file_hash,
            min({{ dbt_delta._in_format('file_column')() }}) as _file
        from {{ ledger }}
        where _line is null or _line > 0
        group by _file_hash
    ) as loaded
        on files._file_hash = loaded._file_hash
    {%- endif %}
    window same_content as (
        partition by files._file_hash
        order by files._file_modified_at, files._file
        rows between unbounded preceding and current row
    )

)
{%- endmacro %}

{# For each wanted column an expression of the reason why its value does not fit, or NULL. #}
{% macro _misfit_reasons(wanted, masked) -%}
    {%- set reasons = [] -%}
    {%- for name, field in wanted.items() if field.misfit -%}
        {%- set text = "'***'" if dbt_delta._is_masked(name, masked) else field.text -%}
        {%- do reasons.append(
            'case when ' ~ field.misfit ~ ' then concat(' ~ dbt_delta._literal(name ~ ': ') ~ ', ' ~ text ~ ', '
            ~ dbt_delta._literal(' is not ' ~ field.type) ~ ') end'
        ) -%}
    {%- endfor -%}
    {{- return(reasons) -}}
{%- endmacro %}

{# The rows of the CTE `checked`: values by the names of their columns, then what the ledger knows of a row. #}
{% macro _landed_rows_sql(values, ledger) -%}
{%- set column = dbt_delta._in_format('file_column')() -%}
select
    {%- for name, value in values.items() %}
    case when _rejected_reason is null then {{ value }} end
        as {{ dbt_delta._quoted(name) }},
    {%- endfor %}
    _file{{ ' as ' ~ column if column != '_file' }},
    _line,
    _file_modified_at,
    _file_size,
    _file_hash,
    {% if ledger is not none -%}
    (select coalesce(max(_load_id), 0) + 1 from {{ ledger }})
    {%- else -%}
    cast(1 as bigint)
    {%- endif %} as _load_id,
    _rejected_reason,
    case when _rejected_reason is not null then line end as _rejected_line
from checked
{%- endmacro %}
