{#
    The version that is meant: a number, a time, `previous` (before the last commit that moved rows), or
    run:<id>, run:last: before that run wrote the table, or after it.
#}
{% macro _version_named(relation, wanted, commits, what, after=false) -%}
    {%- set text = wanted | string | trim -%}
    {%- set first, newest = commits[-1].version, commits[0].version -%}
    {%- if modules.re.fullmatch('[0-9]+', text) -%}
        {%- if not first <= text | int <= newest -%}
            {%- do dbt_delta._refuse(
                what ~ ' is ' ~ text ~ ': ' ~ dbt_delta._named(relation) ~ ' has versions ' ~ first ~ ' to '
                ~ newest ~ '.'
                ~ (' Older ones left the log after delta.logRetentionDuration.' if text | int < first else '')
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
                ~ ', there is no version before it.'
            ) -%}
        {%- endif -%}
        {{- return(of_run[-1].version - 1) -}}
    {%- endif -%}
    {%- set time = run_query(
        'select try_cast(' ~ dbt_delta._literal(text) ~ ' as timestamp) as time'
    ).rows[0]['time'] -%}
    {%- if time is none -%}
        {%- do dbt_delta._refuse(
            what ~ " is '" ~ text ~ "'. Give a version, a time such as '2024-01-31 12:00', previous, or run:<id>."
        ) -%}
    {%- endif -%}
    {%- for commit in commits if commit.time.replace(tzinfo=none) <= time.replace(tzinfo=none) -%}
        {{- return(commit.version) -}}
    {%- endfor -%}
    {%- do dbt_delta._refuse(
        what ~ " is '" ~ text ~ "', before the oldest version of " ~ dbt_delta._named(relation) ~ ' of '
        ~ commits[-1].time.isoformat(' ')[:19] ~ '.'
    ) -%}
{%- endmacro %}

{# Refuses a version that cannot be read any more, saying why. #}
{% macro _reach(relation, version, commits, what, files=false) -%}
    {%- set problem = dbt_delta._out_of_reach(relation, version, commits, files) -%}
    {%- if problem -%}{%- do dbt_delta._refuse(what ~ ': ' ~ problem) -%}{%- endif -%}
{%- endmacro %}

{#
    Why a version cannot be read, or none. Delta refuses versions older than its retention even where
    nothing was vacuumed; `files` also looks for each data file, as a restore needs all of them.
#}
{% macro _out_of_reach(relation, version, commits, files=false) -%}
    {%- if version == commits[0].version -%}{{- return(none) -}}{%- endif -%}
    {%- set text = dbt_delta._as_of(relation, version) -%}
    {%- if files and dbt_delta._succeeds('count(distinct file_name)', 'select _metadata.file_name from ' ~ text) -%}
        {{- return(none) -}}
    {%- elif not dbt_delta._succeeds('count(*)', 'select 1 from ' ~ text ~ ' limit 0') -%}
        {%- set kept = dict(dbt_delta._retention_properties(), **dbt_delta._relied_properties(relation)) -%}
        {%- set successor = namespace(time=commits[-1].time) -%}
        {%- for commit in commits if commit.version > version -%}
            {%- set successor.time = commit.time -%}
        {%- endfor -%}
        {{- return(
            'version ' ~ version ~ ' of ' ~ dbt_delta._named(relation) ~ ' is out of reach, replaced '
            ~ dbt_delta._age(successor.time) ~ ' ago: delta.deletedFileRetentionDuration is '
            ~ kept['delta.deletedFileRetentionDuration'] ~ ', delta.logRetentionDuration '
            ~ kept['delta.logRetentionDuration']
            ~ '. Longer ones in tblproperties keep versions longer, and bring this one back if VACUUM has not '
            ~ 'removed its files.'
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

{# Whether Delta can give the feed of these commits: it says so when it is asked for a row. #}
{% macro _has_change_feed(relation, first, last) -%}
    {{- return(dbt_delta._succeeds('count(*)', dbt_delta._change_feed_sql(relation, first, last) ~ ' limit 1')) -}}
{%- endmacro %}

{# A table's properties on which other work relies: retention, change feed, times of commits. #}
{% macro _relied_properties(relation) -%}
    {%- set found = {} -%}
    {%- for key, value in dbt_delta._describe(relation).properties.items() if key in (
        'delta.deletedFileRetentionDuration', 'delta.logRetentionDuration',
        'delta.enableChangeDataFeed', 'delta.enableInCommitTimestamps',
    ) -%}
        {%- do found.update({key: value}) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}

{# Those of the properties to keep that a table has not, or not so; nothing is asked where none is. #}
{% macro _lost_properties(relation, keeps) -%}
    {%- set lost = {} -%}
    {%- set found = dbt_delta._relied_properties(relation) if keeps else {} -%}
    {%- for key, value in keeps.items() if found.get(key) != value -%}{%- do lost.update({key: value}) -%}{%- endfor -%}
    {{- return(lost) -}}
{%- endmacro %}

{# A change of columns that gave them comments only: the types are those of the version before. #}
{% macro _is_comment(relation, commit) -%}
    {%- if commit.operation not in ('CHANGE COLUMN', 'CHANGE COLUMNS') or commit.version == 0 -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set before = dbt_delta._as_of(relation, commit.version - 1) -%}
    {%- set after = dbt_delta._as_of(relation, commit.version) -%}
    {{- return(dbt_delta._columns_of('select * from ' ~ before) == dbt_delta._columns_of('select * from ' ~ after)) -}}
{%- endmacro %}
