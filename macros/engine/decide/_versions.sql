{#
    The version that a text means: a number, a time, `previous` (before the last commit that moved rows), or run:<id>
    and run:last (before or after that run wrote the table). `time` is the text as Spark reads it as a time.
#}
{% macro _version_meant(relation, wanted, commits, what, after, time) -%}
    {%- set text = wanted | string | trim -%}
    {%- set first, newest = commits[-1].version, commits[0].version -%}
    {%- if modules.re.fullmatch('[0-9]+', text) and commits[0].get('snapshot') is not none -%}
        {%- for commit in commits if commit.snapshot == text | int -%}{{- return(commit.version) -}}{%- endfor -%}
        {%- do dbt_delta._refuse(
            what ~ ' is ' ~ text ~ ': ' ~ dbt_delta._named(relation) ~ ' has no snapshot with this id. The operation history '
            ~ 'shows those that it has.'
        ) -%}
    {%- elif modules.re.fullmatch('[0-9]+', text) -%}
        {%- if not first <= text | int <= newest -%}
            {%- do dbt_delta._refuse(
                what ~ ' is ' ~ text ~ ': ' ~ dbt_delta._named(relation) ~ ' has versions ' ~ first ~ ' to '
                ~ newest ~ '.'
                ~ (' Older ones are no longer in the log (' ~ dbt_delta._retention_property('log') ~ ').' if text | int < first else '')
            ) -%}
        {%- endif -%}
        {{- return(text | int) -}}
    {%- elif text == 'previous' -%}
        {%- for commit in commits if dbt_delta._moves_rows(commit) and commit.version > first -%}
            {{- return(commit.version - 1) -}}
        {%- endfor -%}
        {#- Nothing was ever changed. -#}
        {{- return(newest) -}}
    {%- elif text.startswith('run:') -%}
        {%- set of_run = dbt_delta._commits_of_run(relation, text[4:], commits, what) -%}
        {%- if after -%}{{- return(of_run[0].version) -}}{%- endif -%}
        {%- if of_run[-1].version == 0 -%}
            {%- do dbt_delta._refuse(
                what ~ ' is ' ~ text ~ ': that run created ' ~ dbt_delta._named(relation)
                ~ ', so there is no version before it.'
            ) -%}
        {%- endif -%}
        {{- return(of_run[-1].version - 1) -}}
    {%- endif -%}
    {%- if time is none -%}
        {%- do dbt_delta._refuse(
            what ~ " is '" ~ text ~ "'. Use a version, a time such as '2024-01-31 12:00', previous, or run:<id>."
        ) -%}
    {%- endif -%}
    {%- for commit in commits if commit.time.replace(tzinfo=none) <= time.replace(tzinfo=none) -%}
        {{- return(commit.version) -}}
    {%- endfor -%}
    {%- do dbt_delta._refuse(
        what ~ " is '" ~ text ~ "', which is before the oldest version of " ~ dbt_delta._named(relation) ~ ', of '
        ~ commits[-1].time.isoformat(' ')[:19] ~ '.'
    ) -%}
{%- endmacro %}

{# A version of these commits as readers find it. #}
{% macro _readable(commits, version) -%}
    {%- for commit in commits if commit.version == version and commit.get('snapshot') is not none -%}
        {{- return(commit.snapshot) -}}
    {%- endfor -%}
    {{- return(version) -}}
{%- endmacro %}
