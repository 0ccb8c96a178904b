{# dbt-spark writes the relation as in a FROM, which --empty makes a subquery. #}
{% macro spark__get_columns_in_relation_raw(relation) -%}
    {{- return(run_query('describe extended ' ~ relation.render())) -}}
{%- endmacro %}

{% macro spark__alter_column_type(relation, column_name, new_column_type) -%}
    {%- do run_query(
        'alter table ' ~ relation.render() ~ ' alter column ' ~ dbt_delta._quoted(column_name)
        ~ ' type ' ~ new_column_type
    ) -%}
{%- endmacro %}
