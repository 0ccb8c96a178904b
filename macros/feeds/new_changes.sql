{#
    The rows of an input that changed since this model read it, the last image of each key, with `_change_type`. The
    first build reads the whole input, at one version. See docs/incremental.md.
#}
{% macro new_changes(relation, unique_key, on_gap='fail') -%}
    {%- if not execute -%}{{- return('(select *, null as _change_type from ' ~ relation ~ ')') -}}{%- endif -%}
    {%- set keys = dbt_delta._names(unique_key) -%}
    {%- if not keys -%}
        {%- do dbt_delta._refuse(
            'new_changes of ' ~ relation ~ ' needs unique_key, the columns that are the key of its rows.'
        ) -%}
    {%- elif relation.is_cte -%}
        {{- return(dbt_delta._given_input(relation, 'new_changes', "*, 'upsert' as _change_type")) -}}
    {%- endif -%}
    {%- set input = dbt_delta._new_input(relation, 'new_changes', ['changes'], on_gap, {'keys': keys}) -%}
    {{- return(dbt_delta._marked_input(input, dbt_delta._new_changes_sql(input))) -}}
{%- endmacro %}

{% macro _new_changes_sql(input) -%}
    {%- if input.kind != 'rows' -%}
        {{- return(dbt_delta._input_sql(input, ", 'upsert' as _change_type")) -}}
    {%- endif -%}
    {%- set columns = dbt_delta._columns_of('select * from ' ~ dbt_delta._as_of(input.relation, input.to)) -%}
    {{- return(dbt_delta._netted_sql(input.changes.text, columns, input['keys'])) -}}
{%- endmacro %}
