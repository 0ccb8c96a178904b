{% macro get_swap_sql(existing, successor, old) -%}
    {%- set place = dbt_delta._named(existing.relation) -%}
begin
    begin
        declare exit handler for sqlexception
        begin
            alter {{ existing.type }} {{ dbt_delta._named(old) }} rename to {{ place }};
            select raise_error(
                {{ dbt_delta._literal(dbt_delta._named(successor) ~ ' could not be renamed to ' ~ place
                    ~ '. The old relation is back. The new one is complete: rename it, or drop it and run again.') }}
            );
        end;
        alter {{ existing.type }} {{ place }} rename to {{ dbt_delta._named(old) }};
        alter {{ successor.type }} {{ dbt_delta._named(successor) }} rename to {{ place }};
    end;
    {{ dbt_delta._in_format('after_swap_sql')() }};
end
{%- endmacro %}
