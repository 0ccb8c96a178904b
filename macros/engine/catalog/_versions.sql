{# The version that a text names; see _version_meant. #}
{% macro _version_named(relation, wanted, commits, what, after=false) -%}
    {%- set text = wanted | string | trim -%}
    {%- if modules.re.fullmatch('[0-9]+|previous|run:.*', text, modules.re.DOTALL) -%}
        {{- return(dbt_delta._version_meant(relation, wanted, commits, what, after, none)) -}}
    {%- endif -%}
    {%- set found = run_query(dbt_delta._time_meant_sql(text)).rows[0] -%}
    {%- if found['is_twice'] | string | lower == 'true' -%}
        {%- do dbt_delta._refuse(
            what ~ " is '" ~ text ~ "', in the hour that the clock of the session's time zone shows twice. Use a version; "
            ~ 'the operation history shows them.'
        ) -%}
    {%- endif -%}
    {{- return(dbt_delta._version_meant(relation, wanted, commits, what, after, found['time'])) -}}
{%- endmacro %}

{#
    A text as a time, and whether the clock shows that time an hour before or after, too. Commits come with what the clock
    showed.
#}
{% macro _time_meant_sql(text) -%}
    {%- set same = [] -%}
    {%- for sign in ('+', '-') -%}
        {%- do same.append(
            "date_format(time, 'yyyyMMddHHmm') = date_format(time " ~ sign ~ " interval 1 hour, 'yyyyMMddHHmm')"
        ) -%}
    {%- endfor -%}
    {{- return(
        'select time, ' ~ same | join(' or ') ~ ' as is_twice from (select try_cast(' ~ dbt_delta._literal(text)
        ~ ' as timestamp) as time)'
    ) -}}
{%- endmacro %}

{# Refuses a version that can no longer be read, with the reason. #}
{% macro _reach(relation, version, commits, what, files=false) -%}
    {%- set problem = dbt_delta._out_of_reach(relation, version, commits, files) -%}
    {%- if problem -%}{%- do dbt_delta._refuse(what ~ ': ' ~ problem) -%}{%- endif -%}
{%- endmacro %}

{#
    Why a version cannot be read, or none. Delta refuses versions older than its retention even if nothing was
    vacuumed. `files` also looks for each data file: a restore needs all of them, and must bring back nobody who was
    erased since.
#}
{% macro _out_of_reach(relation, version, commits, files=false) -%}
    {%- if version == commits[0].version -%}{{- return(none) -}}{%- endif -%}
    {%- if files and dbt_delta._erased_since(commits, version) -%}
        {{- return(
            'version ' ~ version ~ ' of ' ~ dbt_delta._named(relation) ~ ' is from before erasure '
            ~ dbt_delta._erased_since(commits, version) ~ ', and would bring back who was erased. Use a later version.'
        ) -}}
    {%- endif -%}
    {%- set text = dbt_delta._as_of(relation, dbt_delta._readable(commits, version)) -%}
    {%- if files and dbt_delta._succeeds('count(distinct file_name)', 'select _metadata.file_name from ' ~ text) -%}
        {{- return(none) -}}
    {%- elif not dbt_delta._succeeds('count(*)', 'select 1 from ' ~ text ~ ' limit 0') -%}
        {%- set kept = dict(dbt_delta._retention_properties(), **dbt_delta._describe(relation).properties) -%}
        {%- set successor = namespace(time=commits[-1].time) -%}
        {%- for commit in commits if commit.version > version -%}
            {%- set successor.time = commit.time -%}
        {%- endfor -%}
        {{- return(
            'version ' ~ version ~ ' of ' ~ dbt_delta._named(relation) ~ ' is out of reach: it was replaced '
            ~ dbt_delta._age(successor.time) ~ ' ago, delta.deletedFileRetentionDuration is '
            ~ kept['delta.deletedFileRetentionDuration'] ~ ' and delta.logRetentionDuration is '
            ~ kept['delta.logRetentionDuration'] ~ '. Longer durations in tblproperties keep versions longer. They '
            ~ 'make this one readable again if VACUUM has not removed its files.'
        ) -}}
    {%- endif -%}
    {%- if files -%}
        {{- return(
            'version ' ~ version ~ ' of ' ~ dbt_delta._named(relation) ~ ' has lost data files, most likely to VACUUM.'
        ) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}

{# Whether Spark can evaluate an aggregate of a SELECT. #}
{% macro _succeeds(aggregate, select) -%}
    {%- set answer = run_query(
        'begin\n    declare exit handler for sqlexception select false as done;\n    select ' ~ aggregate
        ~ ' >= 0 as done from (' ~ select ~ ');\nend'
    ).rows[0]['done'] -%}
    {{- return(answer | string | lower == 'true') -}}
{%- endmacro %}

{# Whether Delta has the change feed of these commits; reading one row shows it. #}
{% macro _has_change_feed(relation, first, last) -%}
    {{- return(dbt_delta._succeeds('count(*)', dbt_delta._change_feed_sql(relation, first, last) ~ ' limit 1')) -}}
{%- endmacro %}

{#
    What a restore keeps, {name: value}: the properties on which other work relies, the pins of readers, and what a killed
    VACUUM left. The value is none if the table has none now, and a version may have one.
#}
{% macro _kept_properties(relation, commits) -%}
    {%- set found, kept = dbt_delta._describe(relation).properties, {} -%}
    {%- set named = [
        'delta.deletedFileRetentionDuration', 'delta.logRetentionDuration',
        'delta.enableChangeDataFeed', 'delta.enableInCommitTimestamps', 'dbt_delta.retention',
    ] -%}
    {%- set pins = found | list -%}
    {%- for commit in commits -%}{%- do pins.extend(dbt_delta._keys_set(commit)) -%}{%- endfor -%}
    {#- Spark may hide the value of a property. -#}
    {%- for key in named + pins if (key in named or dbt_delta._is_pin(key))
        and (key not in found or found[key] is not none) -%}
        {%- do kept.update({key: found.get(key)}) -%}
    {%- endfor -%}
    {{- return(kept) -}}
{%- endmacro %}

{# The properties to keep that a table lacks or has with another value; asks only if there are properties to keep. #}
{% macro _lost_properties(relation, keeps) -%}
    {%- set lost = {} -%}
    {%- set found = dbt_delta._describe(relation).properties if keeps else {} -%}
    {%- for key, value in keeps.items() if found.get(key) != value -%}{%- do lost.update({key: value}) -%}{%- endfor -%}
    {{- return(lost) -}}
{%- endmacro %}

{# A change of columns that only set comments: the types are those of the version before. #}
{% macro _is_comment(relation, commit) -%}
    {%- if commit.operation not in ('CHANGE COLUMN', 'CHANGE COLUMNS') or commit.version == 0 -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set before = dbt_delta._as_of(relation, commit.version - 1) -%}
    {%- set after = dbt_delta._as_of(relation, commit.version) -%}
    {{- return(dbt_delta._columns_of('select * from ' ~ before) == dbt_delta._columns_of('select * from ' ~ after)) -}}
{%- endmacro %}
