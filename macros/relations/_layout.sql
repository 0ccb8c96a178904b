{#
    What the model's configuration promises of its table: {format, partitions, clustering, buckets,
    location, comment, column_comments, properties, defaults, checks, follows_checks, options}.
    Contradictions are errors. A comment is none where persist_docs does not speak of it.
#}
{% macro _layout(relation) -%}
    {%- set partitions = dbt_delta._names(config.get('partition_by')) -%}
    {%- set clustering = dbt_delta._names(config.get('liquid_clustered_by')) -%}
    {%- if partitions and clustering -%}
        {%- do dbt_delta._refuse(
            'partition_by ' ~ partitions ~ ' and liquid_clustered_by ' ~ clustering
            ~ ' exclude each other: a Delta table has one of the two. Remove one.'
        ) -%}
    {%- elif clustering | length > 4 -%}
        {%- do dbt_delta._refuse(
            'liquid_clustered_by has ' ~ clustering | length ~ ' columns ' ~ clustering
            ~ '; Delta clusters by at most four. Keep those that most queries filter by.'
        ) -%}
    {%- elif clustering and config.get('zorder') -%}
        {%- do dbt_delta._refuse(
            'zorder ' ~ config.get('zorder') ~ ' and liquid_clustered_by ' ~ clustering
            ~ ' exclude each other. Remove one.'
        ) -%}
    {%- endif -%}
    {%- set format = dbt_delta._format() -%}
    {%- set layout = dict(
        dbt_delta._docs(),
        format=format,
        partitions=partitions,
        clustering=clustering,
        buckets=dbt_delta._buckets(format),
        location=dbt_delta._location(relation),
        properties=dbt_delta._properties(format),
        defaults={},
        checks=dbt_delta._checks(),
        follows_checks=dbt_delta._has_constraints(),
        options=config.get('options') or {},
    ) -%}
    {%- if layout.checks and format != 'delta' -%}
        {%- do exceptions.warn(
            'Constraints ' ~ layout.checks.keys() | join(', ') ~ ' of ' ~ relation.identifier
            ~ ' are not enforced: file_format ' ~ format ~ ' cannot. Use delta.'
        ) -%}
        {%- do layout.update({'checks': {}}) -%}
    {%- endif -%}
    {{- return(layout) -}}
{%- endmacro %}

{% macro _format() -%}
    {{- return((config.get('file_format') or 'delta') | lower) -}}
{%- endmacro %}

{# Comments that persist_docs asks for: {comment, column_comments}. #}
{% macro _docs() -%}
    {%- set docs = config.get('persist_docs') or {} -%}
    {%- set comments = {} -%}
    {%- for column in (model.columns.values() if docs.get('columns') else []) -%}
        {%- do comments.update({column.name: (column.description or '') | trim}) -%}
    {%- endfor -%}
    {{- return({
        'comment': (model.description or '') | trim if docs.get('relation') else none,
        'column_comments': comments,
    }) -}}
{%- endmacro %}

{# Leaves the comments of columns that are there; dbt warns of the others. #}
{% macro _fit_comments(promises, names) -%}
    {%- if not promises.column_comments -%}{{- return(none) -}}{%- endif -%}
    {%- set fitting = {} -%}
    {%- for name in validate_doc_columns(this, model.columns, names) -%}
        {%- do fitting.update({name: promises.column_comments[name]}) -%}
    {%- endfor -%}
    {%- do promises.update({'column_comments': fitting}) -%}
{%- endmacro %}

{% macro _buckets(format) -%}
    {%- set columns, count = dbt_delta._names(config.get('clustered_by')), config.get('buckets') -%}
    {%- if columns and format == 'delta' -%}
        {%- do dbt_delta._refuse(
            'clustered_by ' ~ columns ~ ' asks for buckets, which Delta has not. Use liquid_clustered_by.'
        ) -%}
    {%- elif columns and not count -%}
        {%- do dbt_delta._refuse('clustered_by ' ~ columns ~ ' needs buckets: how many.') -%}
    {%- endif -%}
    {{- return({'columns': columns, 'count': count}) -}}
{%- endmacro %}

{% macro _location(relation) -%}
    {%- set root = config.get('location_root') -%}
    {%- if not root -%}{{- return(none) -}}{%- endif -%}
    {%- set full = dbt_delta._flag('include_full_name_in_path') -%}
    {{- return(
        root.rstrip('/') ~ ('/' ~ relation.schema if full else '') ~ '/' ~ relation.identifier
    ) -}}
{%- endmacro %}

{#
    The table properties of the configuration, without those that mean something to Databricks only,
    which open-source Delta refuses, and without constraints, which have rules of their own.
#}
{% macro _properties(format) -%}
    {%- set given = config.get('tblproperties') or {} -%}
    {%- if given is not mapping -%}
        {%- do dbt_delta._refuse("tblproperties is " ~ given ~ "; it takes a mapping such as {key: value}.") -%}
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
                "tblproperties has '" ~ key ~ "', which Spark keeps for itself. "
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
                "tblproperties has '" ~ key ~ "', which Delta does not know. Correct it, or give a property "
                ~ "of your own a name that does not begin with 'delta.'."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(properties) -}}
{%- endmacro %}

{#
    What follows `delta.` in the name of a property that open-source Delta takes, as Delta spells it,
    or none. The list is DeltaConfigs of Delta 4.4 without what only Delta itself sets.
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

{# A boolean config, which YAML and Jinja may give as text too. #}
{% macro _flag(name, default=false) -%}
    {%- set value = config.get(name) -%}
    {%- if value is none -%}{{- return(default) -}}{%- endif -%}
    {{- return(dbt_delta._is_true(value)) -}}
{%- endmacro %}

{% macro _is_true(value) -%}
    {{- return((value | string | lower) in ('true', '1', 'yes', 'on')) -}}
{%- endmacro %}

{# Stops the model before anything is written. #}
{% macro _refuse(text) -%}
    {%- do exceptions.raise_compiler_error(text) -%}
{%- endmacro %}
