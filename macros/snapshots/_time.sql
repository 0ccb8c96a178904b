{#
    Times that are the same in every session. Spark converts a timestamp to text, a date or a time without zone in the
    session's time zone, in which an hour may come twice. These macros use UTC.
#}

{# A timestamp in UTC, as a time without zone. #}
{% macro _utc(instant) -%}
    {{- return("timestampadd(microsecond, unix_micros(" ~ instant ~ "), timestamp_ntz'1970-01-01 00:00:00')") -}}
{%- endmacro %}

{# A time of one type as another type. #}
{% macro _as_time(time, type, wanted) -%}
    {%- if type == 'timestamp' and wanted in ('timestamp_ntz', 'date', 'string') -%}
        {%- set time = dbt_delta._utc(time) -%}
    {%- elif type in ('timestamp_ntz', 'date') and wanted == 'timestamp' -%}
        {%- set time = 'concat(cast(cast(' ~ time ~ " as timestamp_ntz) as string), 'Z')" -%}
    {%- endif -%}
    {{- return('cast(' ~ time ~ ' as ' ~ wanted ~ ')') -}}
{%- endmacro %}

{# A value of a type as text, as it goes into dbt_scd_id. #}
{% macro _id_text(value, type) -%}
    {{- return(dbt_delta._as_time(value, type, 'string')) -}}
{%- endmacro %}

{#
    dbt's hash for users' own strategies, whose arguments have any type. Spark plans the branch for timestamps for
    other types, too, so it must accept them; then Spark removes it.
#}
{% macro spark__snapshot_hash_arguments(args) -%}
    {%- set texts = [] -%}
    {%- for arg in args -%}
        {%- set utc = "get_json_object(to_json(named_struct('at', " ~ arg ~ "), map('timeZone', 'UTC', "
            ~ "'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')), '$.at')" -%}
        {%- do texts.append(
            'coalesce(if(typeof(' ~ arg ~ ") = 'timestamp', cast(cast(" ~ utc ~ ' as timestamp_ntz) as string), cast('
            ~ arg ~ " as string)), '')"
        ) -%}
    {%- endfor -%}
    {{- return('md5(' ~ texts | join(" || '|' || ") ~ ')') -}}
{%- endmacro %}

{#
    If dbt_valid_to is a timestamp, so is dbt_valid_to_current. A text or a date without a zone is another timestamp
    in another session: the table's open rows decide whether the session's time zone or UTC counts. Returns the
    settings.
#}
{% macro _settled_current(batch, table, settings) -%}
    {%- if not settings.current or batch.time != 'timestamp' -%}{{- return(settings) -}}{%- endif -%}
    {%- set type = dbt_delta._columns_of('select ' ~ settings.current ~ ' as open_end')[0].type -%}
    {%- set own = 'cast(' ~ settings.current ~ ' as timestamp)' -%}
    {%- set utc = dbt_delta._as_time('(' ~ settings.current ~ ')', 'timestamp_ntz', 'timestamp') -%}
    {%- set found = [] -%}
    {%- if table is not none -%}
        {%- set values = dbt_delta._ask(
            'select unix_micros(' ~ own ~ ') as own, unix_micros(' ~ utc ~ ') as utc'
        ).rows[0] -%}
        {%- if values['own'] == values['utc'] -%}{{- return(settings) -}}{%- endif -%}
        {%- set ends = dbt_delta._quoted(settings.to) -%}
        {%- for name in ('own', 'utc') if dbt_delta._ask(
            'select 1 from ' ~ table.name ~ ' where ' ~ ends ~ ' = timestamp_micros(' ~ values[name] ~ ') limit 1'
        ).rows | length > 0 -%}
            {%- do found.append(name) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set is_utc = 'own' not in found and ('utc' in found or type in ('date', 'timestamp_ntz')) -%}
    {{- return(dict(settings, current=utc) if is_utc else settings) -}}
{%- endmacro %}
