{#
    The settings with what the model's SELECT has read of its inputs: {inputs, rebuilds, tag}, as the text says it.
    `tag` goes into the commit of the rows.
#}
{% macro _reading(settings, sql) -%}
    {%- set inputs, read = dbt_delta._inputs_in(sql), {} -%}
    {%- for input in inputs.values() -%}
        {%- do read.update({input.name: {'id': input.id, 'version': input.to}}) -%}
    {%- endfor -%}
    {{- return(dict(
        settings, inputs=inputs.values() | list, rebuilds=inputs.values() | selectattr('rebuild') | list | length > 0,
        tag={'dbt_inputs': read} if read else {},
    )) -}}
{%- endmacro %}

{# The SELECT of a model whose table is built anew because the changes of an input cannot be read. #}
{% macro _rebuilding_sql(sql, settings) -%}
    {%- if settings.inputs | map(attribute='from') | select('none') | list | length == settings.inputs | length -%}
        {{- return(sql) -}}
    {%- endif -%}
    {%- do dbt_delta._memory('rebuilt').update({model.unique_id: true}) -%}
    {%- set sql = dbt_delta._model_sql(is_stale=true) -%}
    {%- do dbt_delta._memory('rebuilt').pop(model.unique_id) -%}
    {{- return(sql) -}}
{%- endmacro %}

{#
    The settings with `carrier`, the commit of the table that says from where the SELECT goes on; none if no input has
    moved. Refuses a SELECT that goes on from elsewhere.
#}
{% macro _from_watermark(settings) -%}
    {%- if not settings.inputs | selectattr('moved') | list -%}{{- return(dict(settings, carrier=none)) -}}{%- endif -%}
    {%- set read = dbt_delta._watermark(this, model.unique_id) -%}
    {%- for input in settings.inputs -%}
        {%- if (read.inputs if read is not none else {}).get(input.name, {}).get('version') != input.from -%}
            {%- do dbt_delta._refuse(
                dbt_delta._named(this) ~ ' was written by another run, which read ' ~ input.name ~ ' too. Nothing was '
                ~ 'written. Run the model again.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(dict(settings, carrier=read.carrier, tag=dict(settings.tag, dbt_carrier=read.carrier))) -}}
{%- endmacro %}

{# Keeps what was read of the inputs in a commit of its own, if the rows that were read changed nothing in the table. #}
{% macro _keep_watermark(settings) -%}
    {%- if settings.carrier is none -%}{{- return('') -}}{%- endif -%}
    {%- set read = dbt_delta._watermark(this, model.unique_id) -%}
    {%- if read is none -%}
        {%- do dbt_delta._refuse(
            dbt_delta._named(this) ~ ' was restored or made anew while this run wrote to it, so its rows may not be what '
            ~ 'the run expected. Build it anew with --full-refresh.'
        ) -%}
    {%- elif read.carrier != settings.carrier -%}
        {{- return('') -}}
    {%- endif -%}
    {%- call dbt_delta._tagging(settings.tag) -%}
        {%- do run_query(dbt_delta.get_set_properties_sql(
            this, {'dbt_delta.inputs': tojson(settings.tag.dbt_inputs, sort_keys=true)}
        )) -%}
    {%- endcall -%}
{%- endmacro %}
