{# The good rows of the newest file of a landed table whose source delivers full dumps. #}
{% macro latest_dump(relation) -%}
    select * from {{ relation }}
    where _rejected_reason is null
        and _file_hash = (
            select max_by(_file_hash, struct(_load_id, _file_modified_at, _file))
            from {{ relation }}
            where _rejected_reason is null
        )
{%- endmacro %}
