{# Reports in the terminal: what differs in each table, one line per difference. #}
{% macro _print_diffs(reports) -%}
    {%- if reports | length > 1 -%}
        {%- do dbt_delta._print_table(dbt_delta._summary_headings(), dbt_delta._summary_lines(reports)) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- for report in reports -%}
        {%- do print(report.name ~ ': ' ~ report.before ~ ' -> ' ~ report.after
            ~ ('' if report.unique_key else ', rows as a whole (no unique_key)')) -%}
        {%- do dbt_delta._print_table(['what', 'count', 'about'], dbt_delta._count_lines(report)) -%}
        {%- for sample in report.samples -%}
            {%- do print('  ' ~ sample.kind ~ ' ' ~ dbt_delta._sample_text(sample, report.unique_key)) -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}

{% macro _summary_headings() -%}
    {{- return(['name', 'rows_before', 'rows_after', 'added', 'removed', 'changed', 'schema_changes', 'note']) -}}
{%- endmacro %}

{% macro _summary_lines(reports) -%}
    {%- set lines = [] -%}
    {%- for report in reports -%}
        {%- do lines.append(dict(report, schema_changes=report.schema | length, note=report.note or '')) -%}
    {%- endfor -%}
    {{- return(lines) -}}
{%- endmacro %}

{% macro _count_lines(report) -%}
    {%- set by_column, schema = [], [] -%}
    {%- for name, count in report['columns'].items() -%}{%- do by_column.append(name ~ ' ' ~ count) -%}{%- endfor -%}
    {%- for change in report.schema -%}{%- do schema.append(dbt_delta._schema_text(change)) -%}{%- endfor -%}
    {{- return([
        {'what': 'rows', 'count': report.rows_after, 'about': 'before ' ~ '{:,}'.format(report.rows_before)},
        {'what': 'added', 'count': report.added, 'about': ''},
        {'what': 'removed', 'count': report.removed, 'about': ''},
        {'what': 'changed', 'count': report.changed, 'about': by_column | join(', ')},
        {'what': 'schema', 'count': schema | length, 'about': schema | join(', ')},
    ]) -}}
{%- endmacro %}

{# A row, or for a changed row its key and each changed column before and after. #}
{% macro _sample_text(sample, keys) -%}
    {%- if sample.kind != 'changed' -%}{{- return(tojson(sample.after or sample.before)) -}}{%- endif -%}
    {%- set key, changes = {}, [] -%}
    {%- for name in keys -%}{%- do key.update({name: sample.after[name]}) -%}{%- endfor -%}
    {%- for name in sample['columns'] -%}
        {%- do changes.append(name ~ ' ' ~ tojson(sample.before[name]) ~ ' -> ' ~ tojson(sample.after[name])) -%}
    {%- endfor -%}
    {{- return(tojson(key) ~ ' ' ~ changes | join(', ')) -}}
{%- endmacro %}

{#
    Reports as Markdown for a comment on a pull request: a table of counts, then samples up to GitHub's limit of
    65,536 characters.
#}
{% macro _diff_markdown(reports) -%}
    {%- set parts = dbt_delta._markdown_table(
        dbt_delta._summary_headings(), dbt_delta._summary_lines(reports)
    ).splitlines() -%}
    {%- set at = namespace(size=parts | join('\n') | length, left=0) -%}
    {%- for report in reports if report.samples or report.schema -%}
        {%- set lines = ['', '#### ' ~ report.name, '', report.before ~ ' → ' ~ report.after, ''] -%}
        {%- for change in report.schema -%}
            {%- do lines.append('- schema: `' ~ dbt_delta._schema_text(change) ~ '`') -%}
        {%- endfor -%}
        {%- for name, count in report['columns'].items() -%}
            {%- do lines.append('- `' ~ name ~ '` changed in ' ~ '{:,}'.format(count)) -%}
        {%- endfor -%}
        {%- for sample in report.samples -%}
            {%- set text = dbt_delta._sample_text(sample, report.unique_key) -%}
            {%- do lines.append('- ' ~ sample.kind ~ ' ' ~ dbt_delta._markdown_code(text)) -%}
        {%- endfor -%}
        {%- for line in lines -%}
            {%- if at.size + line | length + 1 < 64800 -%}
                {%- do parts.append(line) -%}
                {%- set at.size = at.size + line | length + 1 -%}
            {%- else -%}
                {%- set at.left = at.left + 1 -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if at.left -%}{%- do parts.append('\n… and ' ~ at.left ~ ' more lines') -%}{%- endif -%}
    {{- return((parts | join('\n'))[:65000]) -}}
{%- endmacro %}
