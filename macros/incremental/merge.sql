{# Updates the rows whose key is in the batch, and inserts the rows with new keys; without unique_key inserts all. #}
{% macro get_merge_sql(table, batch, settings) -%}
{%- set source, dest = settings.source_alias, settings.target_alias -%}
{%- set marker = dbt_delta._marker(table, batch, settings) -%}
{%- set parts = dbt_delta._merge_parts(batch, settings) -%}
{%- set on = parts.same + ([source ~ '.__dbt_matchable'] if marker else []) + parts.limits -%}
{%- set names, values, updated = dbt_delta._quoted_list(batch.columns | map(attribute='name')), [], [] -%}
{%- for column in batch.columns -%}{%- do values.append(dbt_delta._value(column, source)) -%}{%- endfor -%}
{%- set new = dbt_delta._in_format('checked_values')(table, parts.updated | map(attribute='value') | list, source) -%}
{%- for one in parts.updated -%}
    {%- do updated.append(dbt_delta._quoted(one.name) ~ ' = ' ~ new[loop.index0]) -%}
{%- endfor -%}
{%- set from = dbt_delta._marked(
    table, batch, dbt_delta._merge_source(table, batch, settings, parts), settings.unique_key, marker
) -%}
merge {{ 'with schema evolution ' if settings.schema_evolution }}into {{ table.name }} as {{ dest }}
using {{ dbt_delta._in_format('checked_source')(table, batch, from) }} as {{ source }}
on
    {{ on | join('\n    and ') if settings.unique_key else 'false' }}
{%- if parts.deletes %}
when matched and ({{ parts.deletes }}) then delete
{%- endif %}
{%- if parts.is_updated %}
when matched{{ ' and ' ~ parts.updates if parts.updates }} then
    update set {{ updated | join(', ') }}
{%- endif %}
{%- set guard = dbt_delta._in_format('guard_clause')(settings, parts.deletes or parts.is_updated) %}
{%- if guard %}
{{ guard }}
{%- endif %}
{%- if not settings.skip_not_matched %}
when not matched{{ ' and (' ~ settings.not_matched_condition ~ ')' if settings.not_matched_condition }} then
    insert ({{ names }})
    values ({{ dbt_delta._in_format('checked_values')(table, values, source) | join(', ') }})
{%- endif %}
{%- if settings.by_source_action %}
when not matched by source{{ ' and (' ~ settings.by_source_condition ~ ')' if settings.by_source_condition }} then
    {{ settings.by_source_action }}
{%- endif %}
{%- endmacro %}
