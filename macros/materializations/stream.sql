{% materialization stream, adapter='spark' -%}
    {{ return(dbt_delta.build_stream()) }}
{%- endmaterialization %}

{#
    Writes every micro-batch that the model's inputs have now, each in one commit, by the engine of incremental models.
    Spark's checkpoint knows which rows were read, and the table which batches it has.
#}
{% macro build_stream() -%}
    {%- set settings = dbt_delta._stream_settings() -%}
    {%- set layout = dbt_delta._layout(this) -%}
    {%- set place = dbt_delta._stream_place() -%}
    {%- do dbt_delta._begin() -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- set sql = dbt_delta._model_sql() -%}
    {%- set is_rebuilt = existing is none or existing.type == 'view' or should_full_refresh() -%}
    {%- set known = none if is_rebuilt else dbt_delta._stream_checkpoint(existing, settings, place, sql) -%}
    {%- set checkpoint = known or local_md5(invocation_id ~ this) -%}
    {#- What --empty builds has no rows yet. -#}
    {%- set promised = {'dbt_delta.stream': checkpoint} if not flags.EMPTY
        else {'dbt_delta.stream': 'none'} if is_rebuilt else {} -%}
    {%- set about = {
        'settings': dbt_delta._reading(settings, sql), 'layout': dict(layout, properties=dict(layout.properties, **promised)),
        'is_rebuilt': is_rebuilt,
    } -%}
    {%- set batches = 0 -%}
    {%- if not flags.EMPTY -%}
        {%- if known is none and not is_rebuilt -%}
            {%- do dbt_delta._execute(dbt_delta.get_set_properties_sql(existing.relation, promised)) -%}
        {%- endif -%}
        {%- set how = {
            'mode': settings.output_mode, 'takes_latest': settings.duplicate_keys == 'latest',
            'select': dbt_delta._stream_digest(sql),
        } -%}
        {%- set batches = adapter.dbt_delta_stream(
            sql, how, place ~ '/' ~ checkpoint, this, dbt_delta._write_stream_batch, about
        ) -%}
    {%- endif -%}
    {%- if flags.EMPTY or (is_rebuilt and batches == 0) -%}
        {%- do dbt_delta._write_stream_rows(about, dbt_delta._no_rows_sql(sql)) -%}
    {%- endif -%}
    {%- do dbt_delta._write_nothing(batches ~ (' batch' if batches == 1 else ' batches')) -%}
    {%- set judged = dbt_delta._memory('judged').get(model.unique_id) -%}
    {%- do dbt_delta._say_judged(judged) if judged -%}
    {%- do adapter.dbt_delta_stream_keep(place, checkpoint) if not flags.EMPTY -%}
    {%- do dbt_delta._run_hooks(post_hooks, [true, false]) -%}
    {{- return({'relations': [this.incorporate(type='table')]}) -}}
{%- endmacro %}

{# Writes a batch, which Delta keeps with its number: the same number is never written again. #}
{% macro _write_stream_batch(about, sql, batch) -%}
    {%- do dbt_delta._write_stream_rows(
        dict(about, is_rebuilt=about.is_rebuilt and batch.batch == 0), sql, {'dbt_stream': batch}
    ) -%}
{%- endmacro %}

{#
    The first rows of a table that is built anew replace what it had; all others are added or merged. Refuses a batch
    for a table that others have made anew meanwhile: it lacks the batches before.
#}
{% macro _write_stream_rows(about, sql, tag={}) -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- set settings = dict(about.settings, tag=dict(about.settings.tag, **tag)) -%}
    {%- if about.is_rebuilt -%}
        {%- do dbt_delta._build(existing, sql, settings, about.layout) -%}
    {%- else -%}
        {%- set own = about.layout.properties['dbt_delta.stream'] -%}
        {%- if tag and (existing is none or existing.properties.get('dbt_delta.stream') != own) -%}
            {%- do dbt_delta._refuse(
                dbt_delta._bare(this) ~ ' was restored, dropped or made anew while its stream was written. Nothing more was '
                ~ 'written. Run the model again.'
            ) -%}
        {%- endif -%}
        {%- do dbt_delta._increment(existing, sql, settings, about.layout) -%}
    {%- endif -%}
{%- endmacro %}

{# The columns of a stream, as a SELECT without rows: a stream itself is no part of a statement that writes. #}
{% macro _no_rows_sql(sql) -%}
    {%- set columns = [] -%}
    {%- for column in dbt_delta._columns_of(sql) -%}
        {%- do columns.append('cast(null as ' ~ column.type ~ ') as ' ~ dbt_delta._quoted(column.name)) -%}
    {%- endfor -%}
    {{- return('select ' ~ columns | join(', ') ~ ' where false\n') -}}
{%- endmacro %}

{% macro _stream_settings() -%}
    {%- set settings = dbt_delta._incremental_settings() -%}
    {%- set asked, mode = config.get('incremental_strategy'), config.get('output_mode', 'append') -%}
    {%- set strategy = asked or ('merge' if settings.unique_key else 'append') -%}
    {%- do dbt_delta._check_choice('output_mode', mode, ['append', 'update']) -%}
    {%- if asked not in (none, 'append', 'merge') -%}
        {%- do dbt_delta._refuse(
            "incremental_strategy of the stream is '" ~ asked ~ "'. Use merge, with a unique_key, or append."
        ) -%}
    {%- elif asked == 'merge' and not settings.unique_key -%}
        {%- do dbt_delta._refuse('incremental_strategy of the stream is merge, which needs a unique_key.') -%}
    {%- elif dbt_delta._format() != 'delta' -%}
        {%- do dbt_delta._refuse(
            'file_format of the stream is ' ~ dbt_delta._format() ~ '. Only delta keeps which batches were written.'
        ) -%}
    {%- elif mode == 'update' and strategy != 'merge' -%}
        {%- do dbt_delta._refuse(
            'output_mode of the stream is update: its rows replace earlier ones, which needs a unique_key'
            ~ (' and incremental_strategy merge.' if settings.unique_key else '.')
        ) -%}
    {%- elif settings.by_source_action -%}
        {%- do dbt_delta._refuse(
            'not_matched_by_source_action would apply to the rows of all earlier batches of the stream. Remove it.'
        ) -%}
    {%- elif dbt_delta._sample() -%}
        {%- do dbt_delta._refuse(
            '--sample leaves out rows that the stream joins, and what it reads would count as read. Leave ' ~ model.name
            ~ ' out with --exclude.'
        ) -%}
    {%- endif -%}
    {#- Which rows the first batch has is chance: it is checked like all others. -#}
    {%- set settings = dict(
        settings, strategy=strategy, output_mode=mode,
        duplicate_keys=settings.duplicate_keys or ('error' if strategy == 'merge' else none),
    ) -%}
    {#- What is written is the SELECT of a batch's view, which looks inexpensive. -#}
    {%- set is_stored = settings.stage == 'auto' and dbt_delta._reads_batch_twice({}, settings)
        and dbt_delta._is_expensive(compiled_code, model.depends_on.nodes) -%}
    {{- return(dict(settings, stage='table') if is_stored else settings) -}}
{%- endmacro %}

{# Where the checkpoints of the model's streams are. #}
{% macro _stream_place() -%}
    {%- set place = adapter.dbt_delta_stream_place(this.schema, this.identifier | lower)
        if adapter.dbt_delta_stream_place is defined else none -%}
    {%- if place is none -%}
        {%- do dbt_delta._refuse(
            'a stream needs the embedded session: dbt sends a server only SQL. Run the model with --target session, or '
            ~ 'make it incremental.'
        ) -%}
    {%- endif -%}
    {{- return(place) -}}
{%- endmacro %}

{#
    The checkpoint with which a table goes on, or none for a new one, which reads all inputs again: a merge then writes
    the same rows, and what is only appended is refused. So is a group whose rows of an input came back: it would count
    them again, or forget those that the input has no more.
#}
{% macro _stream_checkpoint(existing, settings, place, sql) -%}
    {%- set known, problem = existing.properties.get('dbt_delta.stream'), '' -%}
    {%- if known == 'none' -%}
        {#- `dbt run --empty` has made the table. -#}
        {{- return(none) -}}
    {%- elif known is none -%}
        {%- set problem = 'no stream has written it' -%}
    {%- else -%}
        {%- set problem = adapter.dbt_delta_stream_problem(
            place ~ '/' ~ known, this, dbt_delta._stream_digest(sql) if settings.strategy == 'merge' else ''
        ) -%}
    {%- endif -%}
    {%- set restored = '' if problem else adapter.dbt_delta_stream_restored_input(place ~ '/' ~ known, sql) -%}
    {%- if not (problem or restored) -%}{{- return(known) -}}{%- endif -%}
    {%- set problem = dbt_delta._bare(this) ~ ': ' ~ (problem or restored) ~ '. ' -%}
    {%- if restored and settings.output_mode == 'update' -%}
        {%- do dbt_delta._refuse(
            problem ~ 'The rows that came back would be counted again. Nothing was changed. Use --full-refresh, which counts '
            ~ 'the rows that the inputs have now.'
        ) -%}
    {%- endif -%}
    {%- if settings.strategy != 'merge' -%}
        {%- do dbt_delta._refuse(
            problem ~ 'A new stream would append rows that it has. Nothing was changed. Use --full-refresh, or '
            ~ ('incremental_strategy merge.' if settings.unique_key else 'give the model a unique_key.')
        ) -%}
    {%- endif -%}
    {%- do log(problem ~ 'All inputs are read again and merged.', info=true) -%}
    {{- return(none) -}}
{%- endmacro %}

{#
    A digest of what a SELECT computes: not of its comments, of how much a batch reads, and of the id and time of the run.
#}
{% macro _stream_digest(sql) -%}
    {%- set lasting = sql | replace(invocation_id, '') | replace(run_started_at | string, '') -%}
    {%- set tokens = dbt_delta._tokens(lasting) | join(' ') -%}
    {{- return(local_md5(modules.re.sub('(\\bstream `[^`]+` \\. `[^`]+`) with \\( [^()]* \\)', '\\1', tokens))) -}}
{%- endmacro %}

{# A model that was a stream writes rows that its stream does not know of: the stream must not go on later. #}
{% macro _leave_stream(existing) -%}
    {%- if existing.properties.get('dbt_delta.stream') is not none and not flags.EMPTY -%}
        {%- do dbt_delta._execute(dbt_delta._unset_properties_sql(existing.relation, ['dbt_delta.stream'])) -%}
    {%- endif -%}
{%- endmacro %}
