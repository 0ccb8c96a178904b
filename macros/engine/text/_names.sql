{# A quoted name, which may contain any character. #}
{% macro _quoted(name) -%}
    {{- return('`' ~ (name | string | replace('`', '``')) ~ '`') -}}
{%- endmacro %}

{# The path of a column in a struct, each step quoted: a.b becomes `a`.`b`. #}
{% macro _quoted_path(path) -%}
    {%- set steps = path.split('.') if path is string else path -%}
    {%- set quoted = [] -%}
    {%- for step in steps -%}{%- do quoted.append(dbt_delta._quoted(step)) -%}{%- endfor -%}
    {{- return(quoted | join('.')) -}}
{%- endmacro %}

{# The steps of a path that Spark has quoted: a.`b.c` becomes a and b.c. #}
{% macro _path_steps(path) -%}
    {%- set steps = [] -%}
    {%- for quoted, plain in modules.re.findall('`((?:[^`]|``)*)`|([^.`]+)', path) -%}
        {%- do steps.append(plain or quoted | replace('``', '`')) -%}
    {%- endfor -%}
    {{- return(steps) -}}
{%- endmacro %}

{# Names of columns, quoted, as a list in SQL. #}
{% macro _quoted_list(names) -%}
    {%- set quoted = [] -%}
    {%- for name in names -%}{%- do quoted.append(dbt_delta._quoted(name)) -%}{%- endfor -%}
    {{- return(quoted | join(', ')) -}}
{%- endmacro %}

{# The same for columns that may be fields of structs. #}
{% macro _quoted_paths(paths) -%}
    {%- set quoted = [] -%}
    {%- for path in paths -%}{%- do quoted.append(dbt_delta._quoted_path(path)) -%}{%- endfor -%}
    {{- return(quoted | join(', ')) -}}
{%- endmacro %}

{# A relation with schema and name quoted; dbt-spark quotes neither. #}
{% macro _named(relation) -%}
    {{- return(dbt_delta._quoted(relation.schema) ~ '.' ~ dbt_delta._quoted(relation.identifier)) -}}
{%- endmacro %}

{# schema.table without quotes, for messages. #}
{% macro _bare(relation) -%}
    {{- return(relation.schema ~ '.' ~ relation.identifier) -}}
{%- endmacro %}

{# A config with one name or a list of names, as a list of names without backticks. #}
{% macro _names(value) -%}
    {%- set names = [] -%}
    {%- for name in ([] if not value else [value] if value is string else value) -%}
        {%- set bare = name | string | trim or name | string -%}
        {%- if bare | length > 2 and bare[0] == '`' and bare[-1] == '`' -%}
            {%- set bare = bare[1:-1] | replace('``', '`') -%}
        {%- endif -%}
        {%- do names.append(bare) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{# The column with this name in a list, or none; names are compared without case, as in Spark. #}
{% macro _column(columns, name) -%}
    {%- for column in columns -%}
        {%- if column.name | lower == name | lower -%}{{- return(column) -}}{%- endif -%}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{# A YAML value as Delta writes it: true, not True. #}
{% macro _plain(value) -%}
    {{- return((value | string | lower) if value is boolean else (value | string)) -}}
{%- endmacro %}
