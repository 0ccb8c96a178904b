{#
    Refuses values that the table's columns would store as others, such as 1.5 in an int. Spark fails for what a
    column cannot hold at all. Keys were looked at before.
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
                'Column ' ~ column.source ~ ' of ' ~ count ~ ' rows of the batch for ' ~ name ~ ' is '
                ~ column.source_type ~ ' and another value as ' ~ column.type ~ ', the type in the table, for example '
                ~ example ~ '. Nothing was written. Cast the column to that type, or give the table a wider one.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{#
    Refuses rows that the table's constraints forbid while the table is as it was: the write itself would
    fail after the table was altered. Rows that may not be written, and constraints on
    columns that the batch lacks, are left to the write.
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
        {%- set expression = existing.properties['delta.constraints.' ~ name] -%}
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
