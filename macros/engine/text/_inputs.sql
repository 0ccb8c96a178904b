{#
    The rows of an input for FROM, with what the model has read of it then. The text carries that to the write, so rows
    and watermark cannot differ.
#}
{% macro _marked_input(input, sql) -%}
    {%- set marker = tojson({
        'name': input.name, 'id': input.id, 'from': input.from, 'to': input.to, 'moved': input.moved,
        'rebuild': input.rebuild, 'macro': input.macro,
    }, sort_keys=true) -%}
    {#- Nothing in it may end the comment, or mean something to Spark or to what takes SQL apart. -#}
    {%- set plain = marker | replace('/', '\\u002f') | replace('*', '\\u002a') | replace('$', '\\u0024')
        | replace("'", '\\u0027') | replace('`', '\\u0060') | replace(';', '\\u003b') -%}
    {{- return('(\n' ~ sql ~ '\n/* dbt_delta_input ' ~ plain ~ ' */\n)') -}}
{%- endmacro %}

{# What a model's SELECT says that it has read of its inputs, by their names. In a comment it reads nothing. #}
{% macro _inputs_in(sql) -%}
    {%- set inputs, start = {}, '/* dbt_delta_input ' -%}
    {%- for token in modules.re.finditer('(?s)' ~ dbt_delta._opaque_tokens(), sql)
        if token.group().startswith(start) -%}
        {%- set input = fromjson(token.group()[start | length:-3]) -%}
        {%- if inputs.get(input.name, input) != input -%}
            {%- do dbt_delta._refuse(
                input.name ~ ' changed while dbt compiled a model that reads it twice. Nothing was written. Run the model '
                ~ 'again.'
            ) -%}
        {%- endif -%}
        {%- do inputs.update({input.name: input}) -%}
    {%- endfor -%}
    {{- return(inputs) -}}
{%- endmacro %}
