{#
    A run operation that decodes all files of the tables of an erasure, and brings its certificate up to date. It needs
    no keys: the certificate has their hashes. Without `request` it does that for each certificate that may be closed.
#}
{% macro erase_verify(request=none, values_file=none) -%}
    {%- do dbt_delta._in_format('check_operation')('erase_verify') -%}
    {%- if adapter.dbt_delta_erasure is not defined or adapter.dbt_delta_erasure() is none -%}
        {%- set problem = 'erase_verify decodes files, which needs an embedded session (method: session).' -%}
        {%- do dbt_delta._refuse(problem) if request is not none -%}
        {#- A night on a server has nothing to close. -#}
        {%- do print(problem) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set erasure, folder, certified = adapter.dbt_delta_erasure(), dbt_delta._erasure_folder(), [] -%}
    {%- if request is none -%}
        {%- for line in erasure.waiting(folder) -%}{%- do print(line) -%}{%- endfor -%}
    {%- endif -%}
    {%- for id in (erasure.due(folder) if request is none else [request | string]) -%}
        {%- do certified.append(dbt_delta._certify(erasure.read(folder, id), values_file)) -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_found(certified) -%}
{%- endmacro %}
