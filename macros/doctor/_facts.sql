{#
    What the session says about itself. Each statement runs even if Delta's classes are wrong, as long as the session
    runs any statement. None looks up a table or writes.
#}
{% macro _session_facts() -%}
    {%- set spark = {} -%}
    {%- for row in dbt_delta._ask('set').rows -%}
        {%- do spark.update({row['key']: row['value'] | string}) -%}
    {%- endfor -%}
    {%- set ansi = dbt_delta._ask('set spark.sql.ansi.enabled').rows[0]['value'] | string | lower -%}
    {#- EXPLAIN returns an error as text: if Delta's classes fit, it is about the missing path. -#}
    {%- set plan = dbt_delta._ask('explain select * from delta.`file:/dbt_delta_doctor`') -%}
    {%- set jvm = dbt_delta._ask(
        "select version() as spark, java_method('java.lang.System', 'getProperty', 'java.version') as java, "
        ~ "java_method('java.lang.System', 'getProperty', 'java.class.path') as class_path, "
        ~ "java_method('java.lang.System', 'getProperty', 'sun.java.command') as command, "
        ~ "try_reflect('java.lang.Class', 'forName', 'io.delta.package') as delta_class, "
        ~ "java_method('org.apache.derby.iapi.services.monitor.Monitor', 'getMonitor') as derby, "
        ~ "(select count(distinct part) from (select spark_partition_id() as part from range(100000))) as cores"
    ).rows[0] -%}
    {%- set jars = modules.re.findall(
        '(?:^|[/:;,])(delta-(?:core|kernel|spark|storage)[^/:;,*]*[.]jar)',
        jvm['class_path'] ~ ',' ~ spark.get('spark.jars', '')
    ) | unique | list -%}
    {%- set version = none -%}
    {%- if jars or jvm['delta_class'] is not none -%}
        {%- set version = dbt_delta._ask(
            "select java_method('io.delta.package', 'VERSION') as version"
        ).rows[0]['version'] | string -%}
    {%- endif -%}
    {{- return({
        'settings': spark,
        'ansi': ansi,
        'plan': plan.columns[0].values() | join(' ') | replace('\n', ' '),
        'spark': jvm['spark'].split(' ')[0],
        'java': jvm['java'] | string,
        'jars': jars,
        'delta': version,
        'derby': jvm['derby'] is not none,
        'cores': jvm['cores'],
        'command': jvm['command'],
        'server': 'HiveThriftServer2' in jvm['command'],
        'plugin': dbt_delta._plugin(),
    }) -}}
{%- endmacro %}

{# Why dbt_delta's plugin is not active (empty if it is), and the ANSI mode in profiles.yml. #}
{% macro _plugin() -%}
    {%- if adapter.dbt_delta_plugin is defined -%}
        {{- return(adapter.dbt_delta_plugin()) -}}
    {%- elif env_var('DBT_DELTA_PLUGIN', 'on') | lower in ('off', '0', 'false') -%}
        {{- return({'obstacle': 'DBT_DELTA_PLUGIN=' ~ env_var('DBT_DELTA_PLUGIN'), 'ansi': none}) -}}
    {%- endif -%}
    {{- return({'obstacle': 'the Python package dbt_delta is not installed', 'ansi': none, 'is_absent': true}) -}}
{%- endmacro %}
