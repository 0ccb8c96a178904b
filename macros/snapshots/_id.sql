{#
    dbt's hash of keys and times ({text, type}), with additions where it would not be unique: for dbt a NULL key
    equals an empty text, and a | in a text ends it. In a table of dates a key may have two rows of one day.
#}
{% macro _scd_id(batch, times, is_doubled=none) -%}
    {%- set names = dbt_delta._key_names(batch['keys']) -%}
    {%- set texts, moments, ambiguous, split = [], [], [], [] -%}
    {%- for key in batch['keys'] -%}
        {%- do texts.append(dbt_delta._id_text(names[loop.index0], key.type)) -%}
        {%- do ambiguous.append(names[loop.index0] ~ ' is null') -%}
        {%- if names | length + times | length > 2 -%}
            {%- do ambiguous.append('contains(' ~ texts[-1] ~ ", '|')") -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for time in times -%}
        {%- do moments.append(dbt_delta._id_text(time.text, time.type)) -%}
        {%- if time.type == 'string' -%}{%- do split.append('contains(' ~ time.text ~ ", '|')") -%}{%- endif -%}
    {%- endfor -%}
    {%- set more = [moments[-1], dbt_delta._if_any(ambiguous, 'to_json(struct(' ~ names | join(', ')
        ~ "), map('ignoreNullFields', 'false', 'timeZone', 'UTC'))")] -%}
    {%- if split -%}
        {%- do more.append(dbt_delta._if_any(split, 'to_json(array(' ~ moments | join(', ') ~ '))')) -%}
    {%- endif -%}
    {%- if is_doubled -%}{%- do more.append(dbt_delta._if_any([is_doubled], '__dbt_before')) -%}{%- endif -%}
    {{- return(snapshot_hash_arguments(texts + moments[:-1] + ['concat(' ~ more | join(', ') ~ ')'])) -}}
{%- endmacro %}

{# A text after a | if one of the conditions is true, otherwise an empty text. #}
{% macro _if_any(conditions, text) -%}
    {{- return('case when ' ~ conditions | join(' or ') ~ " then concat('|', " ~ text ~ ") else '' end") -}}
{%- endmacro %}
