{#
    The table properties of the configuration, except those that only Databricks knows, which open-source Delta
    refuses, and except constraints, which have their own rules.
#}
{% macro _properties(format) -%}
    {%- set given = config.get('tblproperties') or {} -%}
    {%- if given is not mapping -%}
        {%- do dbt_delta._refuse("tblproperties is " ~ given ~ ". Use a mapping such as {key: value}.") -%}
    {%- endif -%}
    {%- set properties = {} -%}
    {%- for name, key in {'auto_compact': 'autoCompact', 'optimize_write': 'optimizeWrite'}.items()
        if format == 'delta' and config.get(name) is not none -%}
        {%- do properties.update({'delta.autoOptimize.' ~ key: dbt_delta._flag(name)}) -%}
    {%- endfor -%}
    {%- for key, value in given.items() if not key.startswith('delta.constraints.') -%}
        {%- set name = key[6:] if format == 'delta' and key.lower().startswith('delta.') else none -%}
        {%- set known = dbt_delta._known_property(name) if name is not none else none -%}
        {%- if key | lower in ('comment', 'owner', 'provider', 'location', 'external', 'is_managed_location') -%}
            {%- do dbt_delta._refuse(
                "tblproperties has '" ~ key ~ "', which Spark reserves. "
                ~ ('Use description with persist_docs.' if key | lower == 'comment' else 'Remove it.')
            ) -%}
        {%- elif name is none -%}
            {%- do properties.update({key: value}) -%}
        {%- elif known is not none -%}
            {%- do properties.update({'delta.' ~ known: value}) -%}
        {%- elif name | lower in dbt_delta._databricks_properties() -%}
            {%- do dbt_delta._warn_of_config('tblproperties', key) -%}
        {%- else -%}
            {%- do dbt_delta._refuse(
                "tblproperties has '" ~ key ~ "', which Delta does not know. Correct it. The name of "
                ~ "your own property must not begin with 'delta.'."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(properties) -}}
{%- endmacro %}

{#
    The part after `delta.` of a property that open-source Delta accepts, as Delta spells it, or none. The list is
    DeltaConfigs of Delta 4.4, except what only Delta itself sets.
#}
{% macro _known_property(name) -%}
    {%- if name.startswith(('feature.', 'universalFormat.')) -%}{{- return(name) -}}{%- endif -%}
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
        {{- return(known) -}}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{% macro _databricks_properties() -%}
    {{- return((
        'targetfilesize', 'tunefilesizesforrewrites', 'parquet.compression.codec',
        'workloadbasedcolumns.optimizerstatistics', 'enablepredictiveoptimization',
        'rowtrackingpropagation', 'enableoptimizewritefordeletes',
    )) -}}
{%- endmacro %}

{#
    Deletion vectors for tables whose rows are replaced one by one: a change then writes only the changed rows and not
    their whole files.
#}
{% macro _default_properties(settings, layout) -%}
    {%- if settings.strategy in ('merge', 'delete+insert')
        or (settings.strategy == 'insert_overwrite' and layout.clustering) -%}
        {{- return({'delta.enableDeletionVectors': 'true'}) -}}
    {%- endif -%}
    {{- return({}) -}}
{%- endmacro %}
