{# A relation as it was at a version, for any FROM. #}
{% macro _as_of(relation, version) -%}
    {{- return(dbt_delta._named(relation) ~ ' version as of ' ~ version) -}}
{%- endmacro %}

{# The same at a time. #}
{% macro _as_of_time(relation, time) -%}
    {{- return(dbt_delta._named(relation) ~ ' timestamp as of ' ~ dbt_delta._literal(time)) -}}
{%- endmacro %}

{% macro _change_feed_sql(relation, first, last) -%}
select * except (_commit_timestamp)
from table_changes({{ dbt_delta._literal(dbt_delta._named(relation)) }}, {{ first }}, {{ last }})
{%- endmacro %}

{% macro _optimize_sql(relation, where=none, zorder_by=[], full=false) -%}
optimize {{ dbt_delta._named(relation) }}
{{- ' full' if full }}
{%- if where %}
where {{ where }}
{%- endif %}
{%- if zorder_by %}
zorder by ({{ dbt_delta._quoted_paths(dbt_delta._names(zorder_by)) }})
{%- endif %}
{%- endmacro %}

{% macro _purge_sql(relation, where=none) -%}
reorg table {{ dbt_delta._named(relation) }}
{%- if where %} where {{ where }}{% endif %} apply (purge)
{%- endmacro %}
