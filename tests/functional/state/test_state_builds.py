"""Nodes whose inputs did not change are not run: what runs after which change."""

import json
from collections.abc import Callable, Mapping

import pytest

from tests.functional.harness import Invocation, Project
from tests.functional.state.running import SAME, ran

FILES = {
    "seeds/codes.csv": "code,label\n0,zero\n1,one\n2,two\n",
    "models/raw.sql": """
        {{ config(materialized='table', build_when='always', event_time='seen_at') }}
        select id, id % 3 as code, timestamp'2024-01-01 10:00:00' as seen_at from range(10)
    """,
    "models/seen.sql": "{{ config(materialized='view') }} select * from {{ ref('raw') }}",
    "models/inlined.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('seen') }}",
    "models/merged.sql": """
        {{ config(materialized='incremental', unique_key='id') }}
        select id, code from {{ ref('inlined') }}
        {% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}
    """,
    "models/counted.sql": """
        {{ config(materialized='table') }}
        select label, count(*) as n from {{ ref('merged') }} join {{ ref('codes') }} using (code)
        group by label
    """,
    "models/batches.sql": """
        {{ config(materialized='incremental', incremental_strategy='microbatch',
            event_time='seen_at', begin='2024-01-01', batch_size='year') }}
        select id, seen_at from {{ ref('raw') }}
    """,
    "models/named.sql": """
        -- depends_on: {{ ref('raw') }}
        {{ config(materialized='table') }} select count(*) as n from {{ target.schema }}.raw
    """,
    "models/clocked.sql": """
        {{ config(materialized='table') }} select current_date() as day from {{ ref('codes') }}
    """,
    "models/hooked.sql": """
        {{ config(materialized='table', post_hook='select 1') }} select * from {{ ref('codes') }}
    """,
    "models/kept.sql": "{{ config(materialized='table') }} select * from {{ ref('codes') }}",
    "models/late.sql": """
        {{ config(materialized='table',
            freshness={'build_after': {'count': 1, 'period': 'hour'}}) }}
        select count(*) as n from {{ ref('codes') }}
    """,
    "models/foreign.sql": """
        {{ config(materialized='table') }} select * from {{ source('other', 'files') }}
    """,
    "models/persons.sql": """
        {{ config(materialized='table') }} select a, b from {{ source('other', 'people') }}
    """,
    "models/judged.sql": """
        {{ config(materialized='table',
            expectations=[{'name': 'low', 'expression': 'code < 2', 'action': 'quarantine'}]) }}
        select * from {{ ref('codes') }}
    """,
    "models/factored.sql": """
        {{ config(materialized='table') }}
        select code * {{ context['factor']() }} as n from {{ ref('codes') }}
    """,
    "macros/factor.sql": "{% macro factor() %}2{% endmacro %}",
    "models/coded.py": """
        def model(dbt, session):
            dbt.config(materialized="table", deterministic=True)
            return dbt.ref("codes").select("code")
    """,
    "models/noted.sql": """
        {{ config(materialized='incremental') }}
        {% if execute %}{% do run_query('insert into ' ~ target.schema ~ '.notes values (1)') %}
        {% endif %}
        select 1 as id
    """,
    "models/followed.sql": """
        {{ config(materialized='stream') }}
        select * from {{ dbt_delta.stream(source('other', 'lines')) }}
    """,
    "snapshots/past.yml": """
        snapshots:
          - name: past
            relation: ref('codes')
            config: {strategy: check, unique_key: code, check_cols: all}
    """,
    "models/schema.yml": """
        sources:
          - name: other
            schema: "{{ target.schema }}"
            tables: [{name: files, loaded_at_field: loaded_at}, {name: lines}, {name: people}]
        models:
          - name: counted
            columns: [{name: label, data_tests: [not_null, unique]}]
        unit_tests:
          - name: few
            model: counted
            given:
              - input: ref('merged')
                rows: [{id: 1, code: 1}]
              - input: ref('codes')
                rows: [{code: 1, label: one}]
            expect: {rows: [{label: one, n: 1}]}
          - name: times
            model: factored
            given: [{input: ref('codes'), rows: [{code: 0}]}]
            expect: {rows: [{n: 0}]}
    """,
    "tests/kept_failures.sql": """
        {{ config(store_failures=true) }} select * from {{ ref('kept') }} where code > 7
    """,
}
ALWAYS = {"clocked", "hooked"}
OF_RAW = {"seen", "merged", "counted", "batches", "named"}
OF_COUNTED = {"not_null_counted_label", "unique_counted_label"}
OF_CODES = {
    *("counted", "kept", "kept_failures", "past", "judged", "factored", "coded"),
    *OF_COUNTED,
}
KEPT_LESS = "{{ config(materialized='table') }} select code from {{ ref('codes') }}"
KEPT_BY_PROPERTY = KEPT_LESS.replace("'table'", "'table', tblproperties={'a': 'b'}")
SEED = "code,label\n0,zero\n1,one\n2,two\n3,three\n"
OTHER_FACTOR = "{% macro factor() %}3{% endmacro %}"
BAD = "judged__quarantine"
PEOPLE = "create or replace view {schema}.people (%s) as select x, y from {schema}.xy"
# What is done, and which nodes run then, beside those that always do.
STEPS: list[tuple[str, str | Mapping[str, str], set[str]]] = [
    ("nothing", "", set()),
    ("rows", "insert into {schema}.raw values (100, 1, timestamp'2024-05-01')", {
        *OF_RAW, *OF_COUNTED,
    }),
    ("nothing after rows", "", set()),
    ("optimize", "optimize {schema}.raw", set()),
    ("comment", "comment on table {schema}.raw is 'x'", set()),
    ("property", "alter table {schema}.raw set tblproperties ('a' = 'b')", set()),
    ("own rows", "delete from {schema}.kept where code = 0; delete from {schema}." + BAD, {
        "kept", "kept_failures", "judged",
    }),
    ("own tables gone", "drop table {schema}.merged; drop table {schema}." + BAD, {
        "merged", "counted", "judged", *OF_COUNTED,
    }),
    ("failures gone", "drop table {schema}_dbt_test__audit.kept_failures", {"kept_failures"}),
    ("source", "insert into {schema}.files values (timestamp'2025-01-01', 2)", {"foreign"}),
    ("stream; names of a view", "insert into {schema}.lines values (2);" + PEOPLE % "b, a", {
        "followed", "persons",
    }),
    ("seed", {"seeds/codes.csv": SEED}, {"codes", *OF_CODES}),
    ("code", {"models/kept.sql": KEPT_LESS}, {"kept", "kept_failures"}),
    ("configuration", {"models/kept.sql": KEPT_BY_PROPERTY, "macros/factor.sql": OTHER_FACTOR}, {
        "kept", "kept_failures", "factored", "times",
    }),
    ("nothing at last", "", set()),
]  # fmt: skip


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Project:
    project = new_shared_project("state")
    project.write(FILES)
    project.configure(**SAME)
    project.sql("create schema if not exists {schema}")
    project.sql("create table {schema}.files (loaded_at timestamp, id int) using parquet")
    project.sql("insert into {schema}.files values (timestamp'2024-01-01', 1)")
    project.sql("create table {schema}.lines using delta as select 1 as id")
    project.sql("create table {schema}.notes (id int) using delta")
    project.sql("create table {schema}.xy using delta as select 'a' as x, 'b' as y")
    project.sql(PEOPLE % "a, b")
    run = build(project, exclude="none")
    assert run.success, run.output
    assert len(ran(run)) == len(run.results)
    return project


def build(project: Project, *arguments: str, exclude: str = "raw noted") -> Invocation:
    window = ("--event-time-start", "2024-01-01", "--event-time-end", "2025-01-01")
    return project.dbt("build", "--exclude", exclude, *window, *arguments, check=False)


def test_only_what_changed_runs(built: Project) -> None:
    wrong: list[str] = []
    for about, change, expected in STEPS:
        if isinstance(change, str):
            for statement in filter(None, change.split(";")):
                built.sql(statement)
        else:
            built.write(change)
        records = _records(built)
        run = build(built)
        found = ran(run) - ALWAYS
        if not run.success or found != expected:
            more, less = sorted(found - expected), sorted(expected - found)
            wrong.append(f"{about}: more {more}, less {less}\n{run.output}\n{_reasons(run)}")
            print(wrong[-1], flush=True)
        assert _records(built) == records + 1
    assert not wrong, "\n".join(wrong)


def test_dbt_says_unchanged_where_a_node_did_not_run(built: Project) -> None:
    run = build(built, "-s", "kept", "past", "codes", "seen", "counted")
    assert run.success
    assert ran(run) == set()
    for line in ("OK created sql table model", "OK loaded seed", "OK snapshotted", "PASS unique"):
        assert any(line in text and "[unchanged in" in text for text in run.output.splitlines())
    assert "WARN=0 ERROR=0 SKIP=0" in run.output
    before = _records(built)
    assert build(built, "-s", "kept", "--warn-error").success
    assert run.result("kept").status == "success"
    assert _records(built) == before
    assert not [sql for sql in run.statements if "kept" in sql]


def test_the_operation_says_why(built: Project) -> None:
    built.sql("insert into {schema}.raw values (200, 1, timestamp'2024-06-01')")
    run = built.dbt("run-operation", "state", "--args", "{output: json}")
    lines = {line["node"]: line for line in json.loads(run.printed)}
    assert lines["kept"]["next"] == "unchanged"
    assert lines["named"]["why"].endswith(f"of {built.schema}.raw")
    assert lines["clocked"]["why"] == "it depends on the clock or the user"
    assert lines["hooked"]["why"] == "it has hooks"
    assert lines["late"]["next"] == "not due"
    assert "raw" not in lines
    # Its Jinja writes: once, when dbt built it.
    assert lines["noted"]["why"].startswith("only a run can tell: its Jinja may write: insert into")
    assert [row.n for row in built.sql("select count(*) as n from {schema}.notes")] == [1]
    text = built.dbt("run-operation", "state", "--args", "{select: named}").printed
    assert f"of {built.schema}.raw" in text
    # Rows that were left out come with the next run.
    assert build(built, "-s", "named", "--empty").success
    assert ran(build(built, "-s", "named")) == {"named"}


@pytest.mark.long
def test_everything_runs_where_it_is_asked_for(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ran(build(built, "-s", "kept", "--full-refresh")) == {"kept", "kept_failures"}
    assert ran(build(built, "-s", "kept")) == set()
    monkeypatch.setenv("DBT_DELTA_BUILD", "always")
    assert ran(build(built, "-s", "kept")) == {"kept", "kept_failures"}
    monkeypatch.setenv("DBT_DELTA_BUILD", "never")
    refused = build(built, "-s", "kept")
    assert "DBT_DELTA_BUILD is 'never'. It is always, or not set." in str(refused.exception)


def test_an_unknown_word_is_refused(built: Project) -> None:
    built.write({"models/odd.sql": "{{ config(build_when='sometimes') }} select 1 as id"})
    run = build(built, "-s", "odd", "kept")
    built.write({"models/odd.sql": None})
    assert "build_when of odd is 'sometimes'. It is one of always, inputs_changed." in run.output
    assert ran(run) == {"odd"}


@pytest.mark.long
def test_without_records_everything_runs(built: Project) -> None:
    built.sql("update {schema}.dbt_delta_state set format = 2 where node like '%kept'")
    run = build(built, "-s", "kept")
    assert "a newer version of dbt_delta wrote it" in run.output
    assert run.output.count("cannot be used") == 1
    assert ran(run) == {"kept", "kept_failures"}
    built.sql("update {schema}.dbt_delta_state set format = 1, record = 'damaged'")
    assert ran(build(built, "-s", "kept")) == {"kept", "kept_failures"}
    assert ran(build(built, "-s", "kept")) == set()
    built.sql("drop table {schema}.dbt_delta_state")
    assert ran(build(built, "-s", "kept")) == {"kept", "kept_failures"}


def _records(project: Project) -> int:
    return project.version("dbt_delta_state")


def _reasons(run: Invocation) -> str:
    said = (event.info.msg for event in run.events)
    return "\n".join(text for text in said if " runs: " in text or "recorded" in text)
