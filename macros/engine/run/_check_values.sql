{#
    Refuses values that would change in the table's columns, such as 1.5 in an int. Spark itself fails for values that
    a column cannot hold at all. Keys were checked before.
#}
{% macro _check_values(name, batch, keys=[]) -%}
    {%- set losses = dbt_delta._value_losses(batch, keys) -%}
    {%- if not losses -%}{{- return(none) -}}{%- endif -%}
    {%- set found = run_query(dbt_delta.get_losses_sql(batch.from, losses)).rows[0] -%}
    {%- for column in losses -%}
        {%- set count, example = found[2 * loop.index0] | int, found[2 * loop.index0 + 1] -%}
        {%- if count > 0 -%}
            {%- do dbt_delta._refuse_batch(
                batch,
                'Column ' ~ column.source ~ ' is ' ~ column.source_type ~ ' in the model and ' ~ column.type ~ ' in '
                ~ name ~ '. The value of ' ~ count ~ ' rows of the batch would change, for example ' ~ example
                ~ '. Nothing was written. Cast the column in the model, or give the table a wider type.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{#
    Refuses rows that violate the table's constraints before the table is altered: the write itself would fail only
    after that. Rows that may not be written, and constraints on columns that are not in the batch, are left to the
    write.
#}
{% macro _check_constraints(existing, batch, settings, promised) -%}
    {%- set limited = settings.predicates and settings.strategy in ('merge', 'delete+insert') -%}
    {%- if settings.strategy not in dbt_delta._strategies() or limited or settings.strategy == 'merge' and (
        settings.schema_evolution or settings.matched_condition or settings.not_matched_condition or settings.skip_matched
        or settings.skip_not_matched or settings.update_columns or settings.exclude_columns
        or settings.delete_condition
    ) -%}{{- return(none) -}}{%- endif -%}
    {%- set surplus = dbt_delta._surplus_checks(existing, promised) if promised is not none else [] -%}
    {%- set checks = dict(promised.checks) if promised is not none else {} -%}
    {%- for name in dbt_delta._constraint_names(existing.properties) if name not in surplus -%}
        {%- set expression = dbt_delta._constraint(existing.properties, name) -%}
        {%- if expression is not none -%}{%- do checks.setdefault(name, expression) -%}{%- endif -%}
    {%- endfor -%}
    {%- do checks.update(dbt_delta._column_checks(batch)) -%}
    {%- for column in batch.target_columns if dbt_delta._column(batch.columns, column.name) is none -%}
        {%- for name, expression in checks.items() | list if dbt_delta._mentions(expression, [column.name]) -%}
            {%- do checks.pop(name) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- do dbt_delta._refuse_violations(
        checks,
        '(select ' ~ dbt_delta._all_columns(batch, casts=true) | join(', ') ~ ' from ' ~ batch.from ~ ')',
        'the rows of the batch for ' ~ dbt_delta._named(existing.relation),
    ) -%}
{%- endmacro %}
