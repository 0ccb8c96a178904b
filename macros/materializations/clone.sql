{% materialization clone, adapter='spark' -%}
    {{ return(dbt_delta.build_clone()) }}
{%- endmaterialization %}

{#
    A clone of the same relation in another state (`dbt clone --state`): a shallow clone of a Delta table, a view of
    any other relation. An existing clone stays. With --full-refresh it is replaced by two renames, because Delta
    clones only into an empty table.
#}
{% macro build_clone() -%}
    {%- if not defer_relation -%}
        {%- do log('No relation found in state manifest for ' ~ model.unique_id, info=true) -%}
        {{- return({'relations': []}) -}}
    {%- endif -%}
    {%- set existing = dbt_delta._existing(this) -%}
    {%- if existing is not none and not flags.FULL_REFRESH -%}
        {%- do log('Relation ' ~ this ~ ' already exists', info=true) -%}
        {{- return({'relations': []}) -}}
    {%- endif -%}
    {%- set source = dbt_delta._existing(defer_relation) -%}
    {%- if source is none -%}
        {%- do dbt_delta._refuse(
            defer_relation ~ ', which the state names for ' ~ model.name ~ ', is not in the catalog. '
            ~ 'Build it first, or use --state with the manifest of another target.'
        ) -%}
    {%- elif dbt_delta._named(defer_relation) | lower == dbt_delta._named(this) | lower -%}
        {%- do log('Target and source are the same, skipping clone for relation: ' ~ this, info=true) -%}
        {{- return({'relations': []}) -}}
    {%- endif -%}
    {%- if source.type != 'view' -%}{%- do dbt_delta._in_format('check_operation')('clone') -%}{%- endif -%}
    {%- if source.type == 'view' or source.provider != 'delta' or not can_clone_table() -%}
        {%- do dbt_delta._build_view(existing, 'select * from ' ~ dbt_delta._named(defer_relation)) -%}
        {{- return({'relations': [this.incorporate(type='view')]}) -}}
    {%- endif -%}
    {%- do dbt_delta._check_readers(this, existing) -%}
    {%- set successor = this if existing is none else dbt_delta._beside(this, 'new') -%}
    {%- call dbt_delta._tagging(dbt_delta._replaced_tag(existing)) -%}
        {%- do dbt_delta._main(dbt_delta.get_create_clone_sql(successor, source)) -%}
    {%- endcall -%}
    {%- set docs = dbt_delta._docs() -%}
    {%- if docs.comment is not none or docs.column_comments -%}
        {%- set docs = dbt_delta._fit_comments(docs, source.columns | map(attribute='name') | list) -%}
        {#- A shallow clone has the comments of columns, but not that of the table. -#}
        {%- for statement in dbt_delta.get_comment_sql(dict(source, relation=successor, comment=''), docs) -%}
            {%- do dbt_delta._execute(statement) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if existing is not none -%}
        {%- do dbt_delta._swap(existing, successor) -%}
    {%- endif -%}
    {%- do dbt_delta._drop_leftovers(this) -%}
    {{- return({'relations': [this.incorporate(type='table')]}) -}}
{%- endmacro %}
