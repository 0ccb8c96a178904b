{# One line per fault: what, where, value, way out. #}
{% macro _session_faults(found) -%}
    {%- set place = dbt_delta._place(found) -%}
    {%- set remedy = ' there.' if found.server else ' in its server_side_parameters.' -%}
    {%- set faults = dbt_delta._delta_faults(found, place) -%}
    {%- set wanted = 'io.delta.sql.DeltaSparkSessionExtension' -%}
    {%- set extensions = found.settings.get('spark.sql.extensions', 'not set') -%}
    {%- if wanted not in extensions -%}
        {%- do faults.append(
            'spark.sql.extensions: ' ~ extensions ~ ' for ' ~ place ~ '. Add ' ~ wanted ~ remedy
        ) -%}
    {%- endif -%}
    {%- set wanted = 'org.apache.spark.sql.delta.catalog.DeltaCatalog' -%}
    {%- set catalog = found.settings.get('spark.sql.catalog.spark_catalog', 'not set') -%}
    {%- if catalog != wanted -%}
        {%- do faults.append(
            'spark.sql.catalog.spark_catalog: ' ~ catalog ~ ' for ' ~ place ~ '. Set it to ' ~ wanted ~ remedy
        ) -%}
    {%- endif -%}
    {%- do faults.extend(dbt_delta._ansi_faults(found)) -%}
    {%- if found.derby and found.server -%}
        {%- do faults.append(
            'Metastore: embedded Derby in ' ~ place ~ ', which only one process can use. '
            ~ 'Give the server a database such as PostgreSQL '
            ~ '(spark.hadoop.javax.jdo.option.ConnectionURL).'
        ) -%}
    {%- endif -%}
    {%- set scheme = dbt_delta._store(found).partition('://')[0] -%}
    {%- set log_store = 'spark.delta.logStore.' ~ scheme ~ '.impl' -%}
    {%- if scheme.startswith('s3') and not found.settings.get(log_store) -%}
        {%- do faults.append(
            "Writers: Delta's own log store for S3 in " ~ place ~ ', with which two processes that write one table lose '
            ~ 'commits. Set ' ~ log_store ~ ' to dbt_delta.S3LogStore' ~ remedy
        ) -%}
    {%- endif -%}
    {{- return(faults) -}}
{%- endmacro %}

{# The address of the warehouse if it is no folder of this machine. #}
{% macro _store(found) -%}
    {%- set place = found.settings.get('spark.sql.warehouse.dir', '') -%}
    {{- return(place if '://' in place and not place.startswith('file:') else '') -}}
{%- endmacro %}

{# Faults of Delta's JARs: none, two versions, built for another Spark, or with classes that do not fit. #}
{% macro _delta_faults(found, place) -%}
    {%- set wanted = 'delta-spark_' ~ found.spark.split('.')[:2] | join('.') ~ '_2.13' -%}
    {%- set remedy = '. Put ' ~ wanted ~ ' and delta-storage of the same version there, and no other.' -%}
    {%- set where = ' on the class path of ' ~ place ~ ' (spark.driver.extraClassPath)' -%}
    {%- set names = ' (' ~ found.jars | join(', ') ~ ')' -%}
    {%- set versions = [] -%}
    {%- set strangers = [] -%}
    {%- for jar in found.jars -%}
        {%- do versions.extend(modules.re.findall('-([0-9].*)[.]jar$', jar)) -%}
        {%- set made_for = modules.re.findall('^delta-spark_([0-9]+[.][0-9]+)_', jar) | join -%}
        {%- if made_for and not found.spark.startswith(made_for ~ '.') -%}
            {%- do strangers.append(jar) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set faults = [] -%}
    {%- if found.delta is none -%}
        {%- do faults.append('Delta: no JAR' ~ where ~ remedy) -%}
    {%- endif -%}
    {%- if versions | unique | list | length > 1 -%}
        {%- do faults.append('Delta: versions ' ~ versions | unique | join(' and ') ~ where ~ names ~ remedy) -%}
    {%- endif -%}
    {%- if strangers -%}
        {%- do faults.append(
            'Delta: ' ~ strangers | join(', ') ~ where ~ ' is built for another Spark than ' ~ found.spark ~ remedy
        ) -%}
    {%- endif -%}
    {%- set misfit = modules.re.findall('(?:\\w+Error|ClassNotFoundException): [^ ]+', found.plan)[:1] | join -%}
    {%- if misfit and not faults -%}
        {%- do faults.append(
            'Delta: ' ~ found.delta ~ where ~ names ~ ' does not fit Spark ' ~ found.spark ~ ': ' ~ misfit ~ remedy
        ) -%}
    {%- endif -%}
    {{- return(faults) -}}
{%- endmacro %}

{# dbt-spark switches ANSI mode off, and a Thrift server ignores the settings of a profile. #}
{% macro _ansi_faults(found) -%}
    {%- set obstacle = found.plugin.obstacle -%}
    {%- set is_chosen = obstacle.startswith('DBT_DELTA_PLUGIN=') -%}
    {%- set faults = [] -%}
    {%- if found.plugin.get('is_absent') -%}{{- return(faults) -}}{%- endif -%}
    {%- if obstacle and not is_chosen -%}
        {%- do faults.append(
            "Plugin: dbt_delta's is not active in this environment: " ~ obstacle
            ~ '. Install dbt_delta with the versions that it pins, or choose DBT_DELTA_PLUGIN=off.'
        ) -%}
    {%- endif -%}
    {%- if found.ansi == 'true' or found.plugin.ansi == 'false' -%}
        {{- return(faults) -}}
    {%- elif obstacle -%}
        {%- do faults.append(
            'ANSI mode: off in target ' ~ target.name ~ ': dbt-spark switches it off whatever profiles.yml says, '
            ~ "and dbt_delta's plugin is not active (" ~ obstacle ~ '). '
            ~ ('Unset DBT_DELTA_PLUGIN.' if is_chosen else 'Activate the plugin.')
        ) -%}
    {%- elif found.plugin.ansi == 'true' -%}
        {%- do faults.append(
            'ANSI mode: off in ' ~ dbt_delta._place(found) ~ ', which ignores the setting "true" of target '
            ~ target.name ~ '. Set spark.sql.ansi.enabled to true there.'
        ) -%}
    {%- endif -%}
    {{- return(faults) -}}
{%- endmacro %}

{# Notes for an environment with the macros only, as on dbt Cloud: they are not faults. #}
{% macro _session_notes(found) -%}
    {{- return([
        'Note: ' ~ found.plugin.obstacle ~ ' in this environment. The macros work without it, but dbt-spark switches '
        ~ 'ANSI mode off, models of a session target share one Spark session, and run operations do not have select.'
    ] if found.plugin.get('is_absent') else []) -}}
{%- endmacro %}

{% macro _place(found) -%}
    {%- if found.server -%}
        {{- return('the server at ' ~ target.host ~ ':' ~ target.port) -}}
    {%- endif -%}
    {{- return('target ' ~ target.name ~ ' of profiles.yml') -}}
{%- endmacro %}

{# The summary if there is no fault. #}
{% macro _session_summary(found) -%}
    {%- set folder = modules.re.findall('jdbc:derby:(?:;databaseName=)?([^;]+)', found.command) | join -%}
    {%- set metastore = found.settings.get('spark.hadoop.hive.metastore.uris', 'a database') -%}
    {{- return([
        'Spark      ' ~ found.spark ~ ', ' ~ found.settings.get('spark.master'),
        'Delta      ' ~ found.delta,
        'Java       ' ~ found.java,
        'Size       ' ~ found.cores ~ ' cores, ' ~ found.settings.get('spark.driver.memory', '1g') ~ ' of memory, '
        ~ found.settings.get('spark.sql.shuffle.partitions', '200') ~ ' shuffle partitions',
        'Metastore  ' ~ (('embedded Derby, for one process: ' ~ folder) if found.derby else metastore),
        'ANSI       ' ~ ('on' if found.ansi == 'true' else 'off'),
        'Warehouse  ' ~ found.settings.get('spark.sql.warehouse.dir'),
    ] + ([
        'Writers    any number: the store refuses a second commit of a version',
    ] if dbt_delta._store(found) else [])) -}}
{%- endmacro %}
