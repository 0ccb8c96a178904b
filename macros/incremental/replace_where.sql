{# Replaces the rows for which the predicates hold; without predicates it appends. #}
{% macro get_replace_where_sql(target, batch, settings) -%}
{%- set predicate = dbt_delta._all_of(settings.predicates) -%}
{%- if not predicate -%}
    {{ dbt_delta.get_append_sql(target, batch, settings) }}
{%- elif modules.re.search('(?i)\\bselect\\b', predicate) -%}
    {#- Delta refuses a subquery here (DELTA_UNSUPPORTED_SUBQUERY): the rows to keep are written anew.
        NOT around the predicate would lose rows: Spark makes NOT IN of an IN below it, which is never NULL. -#}
insert overwrite table {{ target.name }} by name
select
    {{ dbt_delta._all_columns(batch) | join(',\n    ') }}
from {{ batch.from }}
union all
select {{ dbt_delta._quoted_list(batch.target_columns | map(attribute='name') | list) }}
from {{ target.name }}
where ({{ predicate }}) is not true
{%- else -%}
insert overwrite table {{ target.name }} with ('replaceWhere' = {{ dbt_delta._literal(predicate) }}) by name
{{ dbt_delta._select_batch(batch) }}
{%- endif -%}
{%- endmacro %}

{% macro _all_of(predicates) -%}
    {{- return(
        predicates[0] if predicates | length == 1 else
        ('(' ~ predicates | join(')\n    and (') ~ ')' if predicates else '')
    ) -}}
{%- endmacro %}

{# A value for every column of the target, NULL for those that the batch lacks. #}
{% macro _all_columns(batch, casts=false) -%}
    {%- set values = [] -%}
    {%- for column in batch.target_columns -%}
        {%- set found = dbt_delta._column(batch.columns, column.name) -%}
        {%- set value = 'null' if found is none else dbt_delta._value(found) -%}
        {%- if found is none or (casts and found.source_type != column.type) -%}
            {%- set value = 'cast(' ~ value ~ ' as ' ~ column.type ~ ')' -%}
        {%- endif -%}
        {%- do values.append(value ~ ' as ' ~ dbt_delta._quoted(column.name)) -%}
    {%- endfor -%}
    {{- return(values) -}}
{%- endmacro %}
