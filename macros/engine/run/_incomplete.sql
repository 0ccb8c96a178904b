{#
    Why a table lacks rows of its model: empty or sample, the option with which it was built, or batches, if not all of
    its build have succeeded. None if it is complete. The table of a stream says it in its own way.
#}
{% macro _incomplete(existing) -%}
    {%- set by = existing.properties.get('dbt_delta.incomplete') -%}
    {{- return('empty' if by is none and existing.properties.get('dbt_delta.stream') == 'none' else by) -}}
{%- endmacro %}

{#
    The property by which a build says that it is not all of the model. What a model has read of its inputs is kept
    elsewhere, and without inputs no option leaves out rows.
#}
{% macro _incomplete_properties(settings) -%}
    {%- if settings.inputs or (settings.strategy != 'microbatch' and not model.depends_on.nodes) -%}
        {{- return({}) -}}
    {%- endif -%}
    {%- set by = 'empty' if flags.EMPTY else 'sample' if dbt_delta._sample()
        else 'batches' if settings.strategy == 'microbatch' and dbt_delta._counted_batches() > 1 -%}
    {{- return({'dbt_delta.incomplete': by} if by else {}) -}}
{%- endmacro %}

{# How many batches of the model this command builds; 0 without the plugin, which knows when all have succeeded. #}
{% macro _counted_batches() -%}
    {{- return(adapter.dbt_delta_batches(model.unique_id) if adapter.dbt_delta_batches is defined else 0) -}}
{%- endmacro %}

{#
    Whether the model, or a macro of it, asks is_incremental(), as those do that read only what is newer than their
    table. Without the plugin nobody can look at its macros.
#}
{% macro _asks_incremental(unknown=false) -%}
    {%- if 'is_incremental' in model.raw_code -%}{{- return(true) -}}{%- endif -%}
    {%- if adapter.dbt_delta_asks_incremental is not defined -%}{{- return(unknown) -}}{%- endif -%}
    {{- return(adapter.dbt_delta_asks_incremental(model.depends_on.macros)) -}}
{%- endmacro %}

{#
    Whether the run builds a table anew that lacks rows: one without rows has nothing to lose. Refuses to add to one if
    the model looks only for newer rows. A microbatch model gets all its batches from the plugin.
#}
{% macro _begins_anew(existing, settings) -%}
    {%- set by = dbt_delta._incomplete(existing) -%}
    {%- if by is none or flags.EMPTY or dbt_delta._sample() -%}{{- return(false) -}}{%- endif -%}
    {%- set why = dbt_delta._bare(this) ~ (
        ' lacks batches: not all of its build have succeeded' if by == 'batches' else ' was built with --' ~ by
    ) -%}
    {%- set is_microbatch = settings.strategy == 'microbatch' -%}
    {%- if is_microbatch and (dbt_delta._counted_batches() or invocation_args_dict.get('event_time_start')) -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set asks = is_microbatch or dbt_delta._asks_incremental(unknown=true) -%}
    {%- set is_rendered = not is_microbatch and not (asks and (model.language == 'python' or model.extra_ctes)) -%}
    {%- if is_rendered and dbt_delta._ask('select 1 from ' ~ dbt_delta._named(this) ~ ' limit 1').rows | length == 0 -%}
        {%- do log(why ~ ' and has no rows: it is built anew.', info=true) -%}
        {{- return(true) -}}
    {%- elif asks -%}
        {%- do dbt_delta._drop_python_batch() -%}
        {%- do dbt_delta._refuse(
            why ~ ', and later runs would not read the rows that it lacks. Nothing was changed. Build it with '
            ~ '--full-refresh' ~ (', and without full_refresh: false.' if config.get('full_refresh') is false else '.')
        ) -%}
    {%- endif -%}
    {{- return(false) -}}
{%- endmacro %}

{# The SELECT of a first build, though the table is there: for its rendering dbt does not know the table. #}
{% macro _first_sql(existing) -%}
    {%- if not dbt_delta._asks_incremental(unknown=true) -%}{{- return(dbt_delta._model_sql()) -}}{%- endif -%}
    {%- do adapter.cache_dropped(existing.relation) -%}
    {%- set sql = dbt_delta._model_sql(is_stale=true) -%}
    {%- do adapter.cache_added(existing.relation) -%}
    {{- return(sql) -}}
{%- endmacro %}

{# After an increment with all rows of the model: its SELECT is the same in each run. #}
{% macro _complete(existing, settings) -%}
    {%- if 'dbt_delta.incomplete' in existing.properties and settings.strategy != 'microbatch'
        and not flags.EMPTY and not dbt_delta._sample() -%}
        {%- do dbt_delta._execute(dbt_delta._unset_properties_sql(this, ['dbt_delta.incomplete'])) -%}
    {%- endif -%}
{%- endmacro %}

{# Refuses a sample that the run would add to a table where it does harm; see also _check_sample. #}
{% macro _check_added_sample(table, settings) -%}
    {%- do dbt_delta._check_sample(table, settings) -%}
    {%- if model.depends_on.nodes and dbt_delta._incomplete(table) is none and dbt_delta._asks_incremental() -%}
        {%- do dbt_delta._refuse(
            'The model of ' ~ table.name ~ ' asks is_incremental(): later runs would read only what is newer than the '
            ~ 'sample, and never what it leaves out. Nothing was changed. Leave the model out with --exclude, or build the '
            ~ 'sample with --full-refresh in another schema.'
        ) -%}
    {%- endif -%}
{%- endmacro %}
