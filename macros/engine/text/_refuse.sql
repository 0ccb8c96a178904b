{# Stops with an error. #}
{% macro _refuse(text) -%}
    {%- do exceptions.raise_compiler_error(text) -%}
{%- endmacro %}

{# Refuses a value that is not one of the choices; `what` names the config or argument. #}
{% macro _check_choice(what, value, choices) -%}
    {%- if value not in choices -%}
        {%- do dbt_delta._refuse(what ~ " is '" ~ value ~ "'. Use one of " ~ choices | join(', ') ~ '.') -%}
    {%- endif -%}
{%- endmacro %}

{# Refuses what is not the number of a version. #}
{% macro _check_version(what, version) -%}
    {%- if not modules.re.match('[0-9]+$', version | string) -%}
        {%- do dbt_delta._refuse(what ~ " '" ~ version ~ "'. A version is a whole number from 0.") -%}
    {%- endif -%}
{%- endmacro %}
