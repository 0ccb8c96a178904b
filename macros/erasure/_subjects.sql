{#
    The tables of a project that hold subjects of a kind, {id: table}: {relation, name, node, columns, personal, depth,
    rank, separators, unclear}. A column is {name, group, key, link}: its values are those of the column `key` of the
    requests, or, with a link, of the column `key` of the rows that concern the subjects in the table `link`. `personal`
    are the columns that redact empties. Links come before what they lead through, then inputs before what reads them.
#}
{% macro _subject_tables(macro, kind) -%}
    {%- set found, kinds = {}, [] -%}
    {%- set edges = dbt_delta._edges(graph.nodes) -%}
    {%- for node in dbt_delta._table_nodes() + graph.sources.values() | list -%}
        {%- set columns, personal = [], [] -%}
        {%- for name, column in (node.get('columns') or {}).items() -%}
            {%- set subject = dbt_delta._subject_of(column, node) -%}
            {%- do kinds.extend(subject.keys()) -%}
            {%- if kind in subject -%}
                {%- do columns.append(dbt_delta._subject_column(name, subject[kind], node)) -%}
            {%- endif -%}
            {%- if dbt_delta._is_personal(column) -%}{%- do personal.append(dbt_delta._names(name)[0]) -%}{%- endif -%}
        {%- endfor -%}
        {%- if columns -%}
            {%- set before = dbt_delta._reached([node.unique_id], edges.up) -%}
            {%- do found.update({node.unique_id: dict({
                'relation': api.Relation.create(
                    schema=node.schema, identifier=node.identifier if node.resource_type == 'source' else node.alias
                ),
                'name': node.name, 'node': node, 'columns': columns, 'personal': personal,
                'rank': before | length,
            }, **dbt_delta._separators(before))}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if kind not in kinds -%}
        {%- do dbt_delta._refuse(
            macro ~ ": no column is declared for the kind '" ~ kind ~ "'. Declared are "
            ~ (kinds | unique | sort | join(', ') or 'none') ~ '. Give columns meta: {subject: {' ~ kind
            ~ ': <column of the requests>}}. Nothing was changed.'
        ) -%}
    {%- endif -%}
    {{- return(dbt_delta._with_depths(macro, kind, found)) -}}
{%- endmacro %}

{# What separates the fields of landed lines that these nodes land, {separators, unclear}: why that is not known. #}
{% macro _separators(ids) -%}
    {%- set separators, unclear = [], [] -%}
    {%- for id in ids if id in graph.nodes and graph.nodes[id].resource_type == 'model' -%}
        {%- set node = graph.nodes[id] -%}
        {%- set given = (node.config.get('meta') or {}).get('landing') -%}
        {%- set read = adapter.dbt_delta_erasure().separators(node.raw_code, given) -%}
        {%- do separators.extend(read.found) -%}
        {%- do unclear.append(
            node.name ~ ' does not say what separates their fields: ' ~ read.problem ~ '. Give it config: {meta: {landing: '
            ~ '{folder: .., format: .., separator: .., null_value: ..}}}'
        ) if read.problem -%}
    {%- endfor -%}
    {{- return({'separators': separators | unique | list, 'unclear': unclear}) -}}
{%- endmacro %}

{# What a column's YAML says of subjects, {kind: key}; empty without. #}
{% macro _subject_of(column, node) -%}
    {%- for meta in (column.get('meta'), (column.get('config') or {}).get('meta')) if meta is mapping -%}
        {%- set subject = meta.get('subject') -%}
        {%- if subject is mapping -%}{{- return(subject) -}}{%- endif -%}
        {%- if subject is not none -%}
            {%- do dbt_delta._refuse(
                'Column ' ~ column.name ~ ' of ' ~ node.name ~ " has subject '" ~ subject
                ~ "'. Use a kind and a column of the requests, as in meta: {subject: {person: customer_id}}."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({}) -}}
{%- endmacro %}

{% macro _subject_column(name, given, node) -%}
    {%- set name = dbt_delta._names(name)[0] -%}
    {%- if given is mapping and given.get('through') -%}
        {%- set key = given.get('key') or name -%}
        {{- return({'name': name, 'group': given.through ~ '.' ~ key, 'key': key, 'link': given.through}) -}}
    {%- elif given is string and given -%}
        {{- return({'name': name, 'group': given, 'key': given, 'link': none}) -}}
    {%- endif -%}
    {%- do dbt_delta._refuse(
        'Column ' ~ name ~ ' of ' ~ node.name ~ " has subject '" ~ given ~ "'. Use a column of the requests, or "
        ~ '{through: <model>, key: <its column>}.'
    ) -%}
{%- endmacro %}

{# The same tables with `depth`: how many links lead from them to the requests; deepest first. #}
{% macro _with_depths(macro, kind, tables) -%}
    {%- set depths, by_name = {}, {} -%}
    {%- for id, table in tables.items() -%}{%- do by_name.update({table.name: id}) -%}{%- endfor -%}
    {#- A chain of links is at most as long as there are tables. -#}
    {%- for _ in range(tables | length + 1) -%}
        {%- for id, table in tables.items() if id not in depths -%}
            {%- set open, deepest = [], [0] -%}
            {%- for column in table.columns if column.link is not none -%}
                {%- if column.link not in by_name -%}
                    {%- do dbt_delta._refuse(
                        macro ~ ': column ' ~ column.name ~ ' of ' ~ table.name ~ ' leads through ' ~ column.link
                        ~ ', which has no column declared for the kind ' ~ kind ~ '. Nothing was changed.'
                    ) -%}
                {%- elif by_name[column.link] in depths -%}
                    {%- do deepest.append(depths[by_name[column.link]] + 1) -%}
                {%- else -%}
                    {%- do open.append(column.link) -%}
                {%- endif -%}
            {%- endfor -%}
            {%- if not open -%}{%- do depths.update({id: deepest | max}) -%}{%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set done, sorted = [], {} -%}
    {%- for id, table in tables.items() -%}
        {%- if id not in depths -%}
            {%- do dbt_delta._refuse(
                macro ~ ': the columns of ' ~ table.name ~ ' lead through each other in a circle. Nothing was changed.'
            ) -%}
        {%- endif -%}
        {%- do done.append(dict(table, id=id, depth=depths[id], place=[-depths[id], table.rank])) -%}
    {%- endfor -%}
    {%- for table in done | sort(attribute='place') -%}{%- do sorted.update({table.id: table}) -%}{%- endfor -%}
    {{- return(sorted) -}}
{%- endmacro %}

{# The SELECT of a group's keys as `k`; `tables` are those of the scope. #}
{% macro _group_sql(column, scope) -%}
    {%- if column.link is none -%}
        {%- set key = dbt_delta._quoted(column.key) -%}
        {{- return('select ' ~ key ~ ' as k from ' ~ scope.from ~ ' where ' ~ key ~ ' is not null') -}}
    {%- endif -%}
    {%- set parts, key = [], dbt_delta._quoted(column.key) -%}
    {%- for table in scope.tables if table.name == column.link -%}
        {%- do parts.append(
            'select ' ~ key ~ ' as k from ' ~ dbt_delta._named(table.relation) ~ ' where '
            ~ key ~ ' is not null and ' ~ dbt_delta._concerns_sql(table, scope)
        ) -%}
    {%- endfor -%}
    {{- return(parts | join(' union all ')) -}}
{%- endmacro %}

{# The condition that a row of a table concerns the subjects. #}
{% macro _concerns_sql(table, scope) -%}
    {%- set any = [] -%}
    {%- for column in table.columns -%}
        {%- set group = dbt_delta._group_sql(column, scope) -%}
        {%- do any.append(dbt_delta._quoted(column.name) ~ ' in (' ~ group ~ ')') if group -%}
        {#- A rejected line has no columns: a word or field of it is a key. -#}
        {%- do any.append(
            '_rejected_reason is not null and coalesce(arrays_overlap(' ~ table.words_of_rejected ~ ', (select collect_set(cast(k as string)) from (' ~ group ~ '))), false)'
        ) if group and table.has_rejects -%}
    {%- endfor -%}
    {{- return('(' ~ (any | unique | join(' or ') or 'false') ~ ')') -}}
{%- endmacro %}

{# The same of rows that are still to be erased: redacted ones have nothing left. #}
{% macro _to_erase_sql(table, scope) -%}
    {%- set concerns = dbt_delta._concerns_sql(table, scope) -%}
    {%- if table.action == 'delete' -%}{{- return(concerns) -}}{%- endif -%}
    {%- set left = [] -%}
    {%- for name in dbt_delta._emptied(table) -%}
        {%- do left.append(dbt_delta._quoted(name) ~ ' is not null') -%}
    {%- endfor -%}
    {%- do left.append("_rejected_reason not in ('erased', 'erased line')") if table.has_rejects -%}
    {{- return(concerns ~ ' and (' ~ (left | join(' or ') or 'false') ~ ')') -}}
{%- endmacro %}

{# The columns that redact empties: personal ones, and those with a key of the requests. #}
{% macro _emptied(table) -%}
    {%- set names = table.personal | list -%}
    {%- for column in table.columns if column.link is none and column.name not in names -%}
        {%- do names.append(column.name) -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}

{#
    The MERGE that erases the rows of subjects. Its predicate names columns only: Delta writes it into the log. The
    source has each combination of their keys once, because a row of the target must not have two. Of the requests only
    those go that were erased, with all of their keys: another one may share a key.
#}
{% macro get_erase_sql(table, scope) -%}
{%- if table.action == 'delete' and table.keeps_files -%}
    {{- return(dbt_delta._erase_landed_sql(table, scope)) -}}
{%- endif -%}
{%- set keys, set = dbt_delta._erased_by(table), [] -%}
{%- set values = keys | list -%}
{%- for column in (table.columns if table.action == 'redact' else []) if column.link is none -%}
    {%- set name, flag = dbt_delta._quoted(column.name), dbt_delta._quoted('_is_' ~ loop.index) -%}
    {%- do values.append(name ~ ' in (' ~ dbt_delta._group_sql(column, scope) ~ ') as ' ~ flag) -%}
    {%- if column.name not in table.personal -%}
        {%- do set.append(name ~ ' = if(gone.' ~ flag ~ ', null, old.' ~ name ~ ')') -%}
    {%- endif -%}
{%- endfor -%}
{%- for name in (table.personal if table.action == 'redact' else []) -%}
    {%- do set.append(dbt_delta._quoted(name) ~ ' = null') -%}
{%- endfor -%}
{%- do set.extend([
    '_rejected_line = null', "_rejected_reason = if(old._rejected_reason is null, null, 'erased line')",
]) if table.action == 'redact' and table.has_rejects -%}
{%- set id = dbt_delta._id_of_keys(table) if set else none -%}
{%- do set.append(
    dbt_delta._quoted(id) ~ ' = sha2(concat(old.' ~ dbt_delta._quoted(id) ~ ", '"
    ~ scope.salt ~ "'), 256)"
) if id is not none -%}
merge into {{ dbt_delta._named(table.relation) }} as old
using (
    select distinct {{ values | join(', ') }}
    {%- if table.is_requests is defined %}
    from {{ scope.from }}
    {%- else %}
    from {{ dbt_delta._named(table.relation) }}
    where {{ dbt_delta._to_erase_sql(table, scope) }}
    {%- endif %}
) as gone
on {{ dbt_delta._same(keys) }}
when matched then {{ 'update set ' ~ set | join(', ') if set else 'delete' }}
{%- endmacro %}

{# The column of a snapshot that is a hash with an emptied key in it; none if no key is emptied. #}
{% macro _id_of_keys(table) -%}
    {%- set node = table.get('node') -%}
    {%- if node is none or node.resource_type != 'snapshot' -%}{{- return(none) -}}{%- endif -%}
    {%- set unique = node.config.get('unique_key') -%}
    {%- set unique = unique | lower if unique is string else unique | join(' ') | lower -%}
    {%- for name in dbt_delta._emptied(table) if name | lower in unique -%}
        {{- return((node.config.get('snapshot_meta_column_names') or {}).get('dbt_scd_id') or 'dbt_scd_id') -}}
    {%- endfor -%}
    {{- return(none) -}}
{%- endmacro %}

{# Why constraints do not let rows be redacted. #}
{% macro _redaction_problems(table, scope) -%}
    {%- set properties, columns, problems = table.existing.properties, [], [] -%}
    {%- for column in table.existing.columns -%}
        {%- set own, empty = dbt_delta._quoted(column.name), [] -%}
        {%- for name in table.personal if name | lower == column.name | lower -%}
            {%- do empty.append('true') -%}
        {%- endfor -%}
        {%- for key in table.columns if key.link is none and key.name | lower == column.name | lower -%}
            {%- do empty.append(own ~ ' in (' ~ dbt_delta._group_sql(key, scope) ~ ')') -%}
        {%- endfor -%}
        {%- do columns.append(own if not empty else
            'case when not coalesce(' ~ empty | join(' or ') ~ ', false) then ' ~ own ~ ' end as ' ~ own
        ) -%}
    {%- endfor -%}
    {%- for name in dbt_delta._constraint_names(properties) if table.action == 'redact' -%}
        {#- NULL breaks a constraint, too. -#}
        {%- set rows = dbt_delta._ask(
            'select 1 from (select ' ~ columns | join(', ') ~ ' from ' ~ dbt_delta._named(table.relation) ~ ' where '
            ~ dbt_delta._to_erase_sql(table, scope) ~ ') where not coalesce('
            ~ properties[dbt_delta._constraint_property(name)] ~ ', false) limit 1'
        ).rows -%}
        {%- do problems.append(
            dbt_delta._bare(table.relation) ~ ': redacted rows would break its constraint ' ~ name ~ ': allow NULL in it, '
            ~ 'or use action delete'
        ) if rows | length -%}
    {%- endfor -%}
    {{- return(problems) -}}
{%- endmacro %}

{# The columns that say whose a row is, quoted. #}
{% macro _erased_by(table) -%}
    {%- set keys = [] -%}
    {%- for column in table.columns -%}{%- do keys.append(dbt_delta._quoted(column.name) | lower) -%}{%- endfor -%}
    {#- A rejected row has no key: it is found by its place, and without a number by its text. -#}
    {%- do keys.extend(dbt_delta._landed_from() + ['_line']) if table.has_files -%}
    {%- do keys.extend(['_rejected_line', '_rejected_reason']) if table.has_rejects -%}
    {{- return(keys | unique | list) -}}
{%- endmacro %}

{# The columns of a landed row that say which file it is from. #}
{% macro _landed_from() -%}
    {{- return([dbt_delta._ledger_columns()[0], '_file_modified_at', '_file_size', '_file_hash']) -}}
{%- endmacro %}

{% macro _same(names) -%}
    {%- set same = [] -%}
    {%- for name in names -%}{%- do same.append('old.' ~ name ~ ' <=> gone.' ~ name) -%}{%- endfor -%}
    {{- return(same | join(' and ')) -}}
{%- endmacro %}

{#
    The same of a table of landed files. It is the record of the files that it has: if all rows of a file go, or all that
    were not rejected, the first one stays without values. Else the file would land again, or be no dump any more.
#}
{% macro _erase_landed_sql(table, scope) -%}
{%- set own, empty = dbt_delta._ledger_columns(), [] -%}
{%- do empty.append(
    "_rejected_reason = if(coalesce(old._rejected_reason, 'erased') = 'erased', 'erased', 'erased line')"
) if table.has_rejects -%}
{%- for column in table.existing.columns if column.name | lower not in own[:-1] and not column.get('is_generated') -%}
    {%- do empty.append(dbt_delta._quoted(column.name) ~ ' = null') -%}
{%- endfor -%}
merge into {{ dbt_delta._named(table.relation) }} as old
using (
    {{ dbt_delta._gone_sql(table, scope) }}
) as gone
on {{ dbt_delta._same(dbt_delta._erased_by(table)) }}
when matched and gone.__dbt_stays then update set {{ empty | join(', ') }}
when matched then delete
{%- endmacro %}

{# The rows of a landed table that go, by what says whose they are; the one of a file that stays has __dbt_stays. #}
{% macro _gone_sql(table, scope) -%}
{%- set name, own = dbt_delta._named(table.relation), dbt_delta._ledger_columns() -%}
{%- set goes, keys = dbt_delta._to_erase_sql(table, scope), dbt_delta._erased_by(table) -%}
{%- set file = dbt_delta._landed_from() | join(', ') -%}
{%- set is_data = "coalesce(_rejected_reason, 'erased') = 'erased'" if table.has_rejects else 'true' -%}
select {{ keys | join(', ') }}, bool_or(__dbt_stays) as __dbt_stays
from (
    select
        *,
        __dbt_goes
            and row_number() over (partition by {{ file }} order by not (__dbt_is_data and __dbt_goes), _line) = 1
            and count_if(not __dbt_goes and __dbt_is_data) over of_file = 0
            and (count_if(__dbt_is_data) over of_file > 0 or count_if(not __dbt_goes) over of_file = 0) as __dbt_stays
    from (
        select
            {{ keys | join(', ') }},
            coalesce({{ goes }}, false) as __dbt_goes,
            {{ is_data }} as __dbt_is_data
        from {{ name }}
        where {{ own[0] }} in (select {{ own[0] }} from {{ name }} where {{ goes }})
    )
    window of_file as (partition by {{ file }})
)
where __dbt_goes
group by {{ keys | join(', ') }}
{%- endmacro %}

{# Why the row that stays of a file cannot be without values. #}
{% macro _record_problems(table, scope) -%}
    {%- if table.action == 'redact' -%}{{- return([]) -}}{%- endif -%}
    {%- set why, checks, columns = [], table.existing.properties, [] -%}
    {%- set kept = dbt_delta._landed_from() + ['_line'] -%}
    {%- do why.append(
        'would be data without the columns _rejected_reason and _rejected_line: give it these, or use action redact'
    ) if not table.has_rejects -%}
    {%- for column in table.existing.columns -%}
        {%- set is_kept = column.name | lower in dbt_delta._ledger_columns()[:-1] -%}
        {%- do why.append('would break NOT NULL of ' ~ column.name ~ ': allow NULL in it')
            if column.get('nullable') is false and not is_kept and not column.get('is_generated') -%}
        {%- set value = column.name if column.name | lower in kept
            else "'erased'" if column.name | lower == '_rejected_reason' else 1 if is_kept else 'null' -%}
        {%- do columns.append('cast(' ~ value ~ ' as ' ~ column.type ~ ') as ' ~ dbt_delta._quoted(column.name)) -%}
    {%- endfor -%}
    {%- set stays, problems = '(' ~ dbt_delta._gone_sql(table, scope) ~ ') where __dbt_stays', [] -%}
    {%- set texts = why if why and dbt_delta._ask('select 1 from ' ~ stays ~ ' limit 1').rows | length else [] -%}
    {%- for name in dbt_delta._constraint_names(checks) -%}
        {%- do texts.append('would break the constraint ' ~ name ~ ': allow NULL in it') if dbt_delta._ask(
            'select 1 from (select ' ~ columns | join(', ') ~ ' from ' ~ stays ~ ') where not coalesce('
            ~ checks[dbt_delta._constraint_property(name)] ~ ', false) limit 1'
        ).rows | length -%}
    {%- endfor -%}
    {%- for text in texts -%}
        {%- do problems.append(
            dbt_delta._bare(table.relation) ~ ': the row that stays of a file whose rows all go ' ~ text
        ) -%}
    {%- endfor -%}
    {{- return(problems) -}}
{%- endmacro %}
