{#
    The batch of an incremental run: the model's SELECT, or a table of its result if evaluating it more than once would
    be expensive.
      from            what the batch is read from: the SELECT in parentheses, the table or the view
      staging, view   the table or view behind it, or none
      source_columns  the columns of the SELECT: [{name, type}]
      columns         what is written: [{name, type, source, source_type, is_partition, is_new}]
      target_columns  the table's columns after this run's schema change
      changes         that schema change; as from _schema_changes
      rows, null_rows how many rows there are, and how many with a NULL in their key; none if not counted
      bounds          the lowest and highest values of the keys; as from _found_bounds
#}
{% macro _batch(from, source_columns=[], columns=[], target_columns=[], changes=[], staging=none) -%}
    {{- return({
        'from': from, 'staging': staging, 'view': none,
        'source_columns': source_columns, 'columns': columns, 'target_columns': target_columns, 'changes': changes,
        'rows': none, 'null_rows': none, 'bounds': [],
    }) -}}
{%- endmacro %}
