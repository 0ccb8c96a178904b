{#
    A run operation that decodes all files of the tables of an erasure, and brings its certificate up to date. It needs
    no keys: the certificate has their hashes.
#}
{% macro erase_verify(request, values_file=none) -%}
    {%- do dbt_delta._in_format('check_operation')('erase_verify') -%}
    {%- if adapter.dbt_delta_erasure is not defined or adapter.dbt_delta_erasure() is none -%}
        {%- do dbt_delta._refuse('erase_verify decodes files, which needs an embedded session (method: session).') -%}
    {%- endif -%}
    {%- set record = adapter.dbt_delta_erasure().read(dbt_delta._erasure_folder(), request | string) -%}
    {%- do dbt_delta._certify(record, values_file) -%}
{%- endmacro %}
