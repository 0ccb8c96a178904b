{# Comments that persist_docs asks for: {comment, column_comments}. #}
{% macro _docs() -%}
    {%- set docs = config.get('persist_docs') or {} -%}
    {%- set comments = {} -%}
    {%- for column in (model.columns.values() if docs.get('columns') else []) -%}
        {%- do comments.update({column.name: (column.description or '') | trim}) -%}
    {%- endfor -%}
    {{- return({
        'comment': (model.description or '') | trim if docs.get('relation') else none,
        'column_comments': comments,
    }) -}}
{%- endmacro %}

{# The promised comments, only of columns that exist; dbt warns about the others. #}
{% macro _fit_comments(promises, names) -%}
    {%- if not promises.column_comments -%}{{- return(promises) -}}{%- endif -%}
    {%- set fitting = {} -%}
    {%- for name in validate_doc_columns(this, model.columns, names) -%}
        {%- do fitting.update({name: promises.column_comments[name]}) -%}
    {%- endfor -%}
    {{- return(dict(promises, column_comments=fitting)) -}}
{%- endmacro %}
