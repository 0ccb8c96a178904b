{# The SELECT of the view that says which publication readers see: Spark reads its text once in a query. #}
{% macro get_pointer_sql(seq) -%}
select {{ seq }}L as seq
{%- endmacro %}

{# Gives a view a text. CREATE OR REPLACE drops it first, and a reader may not find it. #}
{% macro get_set_view_sql(view, sql, is_new) -%}
{{ 'create' if is_new else 'alter' }} view {{ dbt_delta._named(view) }} as
{{ sql }}
{%- endmacro %}

{#
    The SELECT of the view through which readers see a published table: of steps [{since, version}], oldest first, the
    last one that has come. Spark takes the others out when it optimizes a query. A comment says who published it.
#}
{% macro get_published_view_sql(view, relation, steps, pointer, by) -%}
{%- set seq = '(select seq from ' ~ dbt_delta._named(pointer) ~ ')' -%}
{%- set about = {'relation': dbt_delta._bare(relation), 'steps': steps, 'by': by} -%}
{%- set about = tojson(about) | replace('*/', '*\\u002f') -%}
{%- set refusal = 'Planned while ' ~ dbt_delta._bare(view) ~ ' was published: run the query again.' -%}
{%- for step in steps %}
select {{ '/* dbt_delta_publish ' ~ about ~ ' */ ' if loop.first }}* from {{ dbt_delta._as_of(relation, step.version) }}
where
    case
        {%- for later in steps if later.since > step.since %}
        when {{ seq }} >= {{ later.since }}L then false
        {%- endfor %}
        when {{ seq }} >= {{ step.since }}L then true
        else {{ 'raise_error(' ~ dbt_delta._literal(refusal) ~ ')' if loop.first else 'false' }}
    end
{{- '\nunion all' if not loop.last }}
{%- endfor %}
{%- endmacro %}

{# The table of what was published: a row for each table that readers see, and one of what a run left to do. #}
{% macro get_create_publications_sql(relation) -%}
create table if not exists {{ dbt_delta._named(relation) }} (
    seq bigint comment 'The publication; readers see the newest one.',
    written_at timestamp,
    run string comment 'The run that published.',
    name string comment 'The name of the view.',
    relation string comment 'The table that it shows.',
    location string,
    version bigint,
    state string comment 'In a row without a name: what later runs have to know, as JSON.'
)
using parquet
comment 'What was published. Written by dbt_delta, a file for each run.'
{%- endmacro %}

{# One file with the rows of a publication, none where nothing was published, and with the state that a run leaves. #}
{% macro get_record_sql(relation, seq, run, rows, state) -%}
{%- set values = [] -%}
{%- for row in rows -%}
    {%- do values.append('(' ~ [
        dbt_delta._literal(row.name), dbt_delta._literal(row.relation), dbt_delta._literal(row.location),
        row.version ~ 'L', 'null',
    ] | join(', ') ~ ')') -%}
{%- endfor -%}
{%- do values.append('(null, null, null, null, ' ~ dbt_delta._literal(state) ~ ')') -%}
insert into {{ dbt_delta._named(relation) }}
select /*+ coalesce(1) */
    {{ seq }}L,
    current_timestamp(),
    {{ dbt_delta._literal(run) }},
    *
from values
    {{ values | join(',\n    ') }}
{%- endmacro %}
