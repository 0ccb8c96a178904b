{#
    The good rows of the newest file of a landed table whose source delivers full dumps. If the newest file has the
    same content as an earlier one, the rows are those of the earlier one. A file whose good rows were all erased is still
    the newest one.
#}
{% macro latest_dump(relation) -%}
    select * from {{ relation }}
    where _rejected_reason is null
        and _file_hash = (
            select max_by(_file_hash, struct(_load_id, _file_modified_at, _file, _rejected_reason is null))
            from {{ relation }}
            where (coalesce(_rejected_reason, 'erased') = 'erased'
                or (_line = 0 and _rejected_reason like 'same content as %'))
                and _file_hash in (
                    select _file_hash from {{ relation }} where coalesce(_rejected_reason, 'erased') = 'erased'
                )
        )
{%- endmacro %}
