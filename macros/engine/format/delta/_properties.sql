{# Whether a property is one of the format's own. #}
{% macro _delta__is_format_property(key) -%}
    {{- return(key.lower().startswith('delta.')) -}}
{%- endmacro %}

{#
    A property that open-source Delta accepts, as Delta spells it, or none. The list is DeltaConfigs of Delta 4.4, except
    what only Delta itself sets.
#}
{% macro _delta__known_property(key) -%}
    {%- set name = key[6:] -%}
    {%- if name.startswith(('feature.', 'universalFormat.')) -%}{{- return('delta.' ~ name) -}}{%- endif -%}
    {%- for known in (
        'appendOnly', 'autoOptimize', 'autoOptimize.autoCompact', 'autoOptimize.optimizeWrite',
        'castIcebergTimeType', 'checkpoint.writeStatsAsJson', 'checkpoint.writeStatsAsStruct',
        'checkpointInterval', 'checkpointPolicy', 'checkpointRetentionDuration',
        'columnMapping.maxColumnId', 'columnMapping.mode',
        'compatibility.symlinkFormatManifest.enabled',
        'coordinatedCommits.commitCoordinator-preview',
        'coordinatedCommits.commitCoordinatorConf-preview', 'coordinatedCommits.tableConf-preview',
        'dataSkippingNumIndexedCols', 'dataSkippingStatsColumns', 'dataSkippingStringPrefixLength',
        'deletedFileRetentionDuration', 'dropFeatureTruncateHistory.retentionDuration',
        'enableChangeDataCapture', 'enableChangeDataFeed', 'enableDeletionVectors',
        'enableExpiredLogCleanup', 'enableFullRetentionRollback', 'enableIcebergCompatV1',
        'enableIcebergCompatV2', 'enableIcebergCompatV3', 'enableInCommitTimestamps',
        'enableMaterializePartitionColumnsFeature', 'enableRowTracking', 'enableTypeWidening',
        'enableVariantShredding', 'ignoreIcebergBucketPartition', 'ignoreProtocolDefaults',
        'isolationLevel', 'logRetentionDuration', 'minReaderVersion', 'minWriterVersion',
        'parquet.format.version', 'randomPrefixLength', 'randomizeFilePrefixes',
        'requireCheckpointProtectionBeforeVersion', 'sampleRetentionDuration',
        'setTransactionRetentionDuration', 'writePartitionColumnsToParquet',
    ) if known | lower == name | lower -%}
        {{- return('delta.' ~ known) -}}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{# Whether a property is one that only Databricks knows. #}
{% macro _delta__is_of_databricks(key) -%}
    {{- return(key[6:] | lower in (
        'targetfilesize', 'tunefilesizesforrewrites', 'parquet.compression.codec',
        'workloadbasedcolumns.optimizerstatistics', 'enablepredictiveoptimization',
        'rowtrackingpropagation', 'enableoptimizewritefordeletes',
    )) -}}
{%- endmacro %}

{#
    Whether a table has a property; keys and values as Delta stores them. A feature counts with any accepted word, and
    a table may need newer readers and writers than the property says.
#}
{% macro _delta__has_property(properties, key, value) -%}
    {%- set found, wanted = properties.get(key), dbt_delta._plain(value) -%}
    {%- if key.startswith('delta.feature.') -%}
        {{- return(found is not none and wanted | lower in ('supported', 'enabled')) -}}
    {%- elif key in ('delta.minReaderVersion', 'delta.minWriterVersion') and found is not none -%}
        {{- return(found | int >= wanted | int) -}}
    {%- endif -%}
    {{- return(key == 'delta.ignoreProtocolDefaults' or found == wanted) -}}
{%- endmacro %}

{# The property that holds a CHECK constraint. #}
{% macro _delta__constraint_property(name) -%}
    {{- return('delta.constraints.' ~ name) -}}
{%- endmacro %}

{# The names of the CHECK constraints among properties. #}
{% macro _delta__constraint_names(properties) -%}
    {%- set names, start = [], dbt_delta._constraint_property('') -%}
    {%- for key in properties if key.startswith(start) -%}{%- do names.append(key[start | length:]) -%}{%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{# Whether a new version of a table must set a property that the table has; Delta sets the others itself. #}
{% macro _delta__is_restated(key) -%}
    {%- if not key.startswith('delta.') or key.startswith(dbt_delta._constraint_property('')) -%}
        {{- return(true) -}}
    {%- endif -%}
    {{- return(
        not key.startswith(('delta.feature.', 'delta.min', 'delta.columnMapping.'))
        and dbt_delta._delta__known_property(key) is not none
    ) -}}
{%- endmacro %}

{# The property that says how long a table keeps its files, or its log. #}
{% macro _delta__retention_property(of) -%}
    {{- return({'files': 'delta.deletedFileRetentionDuration', 'log': 'delta.logRetentionDuration'}[of]) -}}
{%- endmacro %}

{# The properties that decide how long versions can be read, with Delta's defaults. #}
{% macro _delta__retention_properties() -%}
    {{- return({
        dbt_delta._retention_property('files'): 'interval 7 days',
        dbt_delta._retention_property('log'): 'interval 30 days',
    }) -}}
{%- endmacro %}

{# The columns for which Delta stores minimum and maximum: the first 32, or those that a property names. #}
{% macro _delta__columns_with_statistics(state) -%}
    {%- set named = state.configuration.get('delta.dataSkippingStatsColumns') -%}
    {%- if named -%}{{- return(dbt_delta._names(named.split(','))) -}}{%- endif -%}
    {%- set limit = state.configuration.get('delta.dataSkippingNumIndexedCols', '32') | int -%}
    {%- set names = state.columns | map(attribute='name') | list -%}
    {{- return(names if limit < 0 else names[:limit]) -}}
{%- endmacro %}

{# The properties that make Delta store the minimum and maximum of these columns. #}
{% macro _delta__statistics_properties(names) -%}
    {{- return({'delta.dataSkippingStatsColumns': names | join(',')}) -}}
{%- endmacro %}

{# A property of Delta's as it is set; empty if only Databricks knows it, none if nobody does. #}
{% macro _delta__own_properties(key, value) -%}
    {%- set known = dbt_delta._delta__known_property(key) -%}
    {%- if known is not none -%}{{- return({known: value}) -}}{%- endif -%}
    {{- return({} if dbt_delta._delta__is_of_databricks(key) else none) -}}
{%- endmacro %}

{# What flags of the model add to its properties. #}
{% macro _delta__flag_properties() -%}
    {%- set properties = {} -%}
    {%- for name in ('auto_compact', 'optimize_write') if config.get(name) is not none -%}
        {%- do properties.update({dbt_delta._delta__feature_property(name).key: dbt_delta._flag(name)}) -%}
    {%- endfor -%}
    {{- return(properties) -}}
{%- endmacro %}

{# The expression of a constraint among properties. #}
{% macro _delta__constraint(properties, name) -%}
    {{- return(properties.get(dbt_delta._delta__constraint_property(name))) -}}
{%- endmacro %}
