"""The run operation diff, and the tests that stand on it: what they say, and how they end."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.harness import Invocation, Project
from tests.functional.operations import operations

MODELS = {
    "models/a.sql": (
        "{{ config(materialized='incremental', unique_key='id',"
        " tblproperties={'delta.enableChangeDataFeed': 'true'}) }}"
        " select int(id) as id, concat('name ', id, '{{ var('mark', '') }}') as name, 1.0D as x"
        " from range({{ var('step') }})"
    ),
    "models/b.sql": "{{ config(materialized='table') }} select 1 as n from {{ ref('a') }}",
    "models/v.sql": "select * from {{ ref('a') }}",
    "models/s.yml": """
        models:
          - name: a
            columns: [{name: name, config: {meta: {pii: true}}}]
    """,
}
# Of these the tables may change.
TESTED = {
    "models/c.sql": "{{ config(materialized='table') }} select 1 as n from {{ ref('a') }}",
    "models/w.sql": "select * from {{ ref('a') }}",
    "models/t.yml": """
        models:
          - name: c
            data_tests:
              - dbt_delta.no_change_since:
                  arguments: {since: "{{ var('since', 0) }}"}
              - dbt_delta.row_count_between:
                  arguments: {min: 1, max: 3}
          - name: w
            data_tests:
              - dbt_delta.reconciles_with:
                  arguments: {to: ref('a'), unique_key: id}
              - dbt_delta.reconciles_with:
                  name: but_x
                  arguments: {to: ref('a'), unique_key: id, exclude_columns: [x]}
    """,
}


@pytest.fixture(scope="module")
def shared(new_shared_project: Callable[[str], Project]) -> Project:
    """Model a: ids 0 and 1, then 0 to 2 with names that differ."""
    project = new_shared_project("diff")
    project.write(MODELS | TESTED)
    project.dbt("run", vars={"step": 2})
    project.dbt("run", vars={"step": 3, "mark": "!"})
    return project


def _diff(project: Project, *calls: dict[str, Any], check: bool = True) -> Invocation:
    """Several diffs in one invocation; the first that fails ends it."""
    return operations(project, *[("diff", call) for call in calls], vars={"step": 3}, check=check)


def _json(project: Project, *calls: dict[str, Any]) -> list[Any]:
    return _reports(_diff(project, *[{**call, "output": "json"} for call in calls]))


def _reports(run: Invocation) -> list[Any]:
    return [json.loads(line) for line in run.printed.splitlines()]


def test_versions_of_a_model(shared: Project) -> None:
    found, back, run, whole = _json(
        shared,
        {"model": "a"},
        {"model": "a", "from": 1, "to": 0},
        {"model": "a", "from": "run:last"},
        {"model": "b", "from": 0},
    )
    assert (found["added"], found["removed"], found["changed"]) == (1, 0, 2)
    assert (found["rows_before"], found["rows_after"]) == (2, 3)
    assert (found["columns"], found["unique_key"]) == ({"name": 2}, ["id"])
    samples = {(s["kind"], s["after"]["id"]): s["after"]["name"] for s in found["samples"]}
    # Marked as personal data.
    assert samples == {("added", 2): "***", ("changed", 0): "***", ("changed", 1): "***"}
    assert (back["added"], back["removed"], back["changed"]) == (0, 1, 2)
    assert (found["found_by"], back["found_by"]) == ("feed", "feed")
    assert (run["added"], run["before"]) == (1, "version 0")
    assert (whole["added"], whole["unique_key"], whole["found_by"]) == (1, [], "files")


def test_moved_rows_are_no_difference(shared: Project) -> None:
    shared.sql("create table {schema}.moved using delta as select id from range(0, 9, 1, 2)")
    shared.sql("optimize {schema}.moved")
    (found,) = _json(shared, {"model": f"{shared.schema}.moved", "from": 0})
    assert (found["found_by"], found["added"], found["samples"]) == ("none", 0, [])
    assert tables.commits(shared, "moved")[1]["operation"] == "OPTIMIZE"


def test_names_and_folders_stand_for_themselves(shared: Project) -> None:
    # Two columns change their names, and no file says so.
    shared.sql(
        "create table {schema}.swapped using delta tblproperties ('delta.columnMapping.mode' ="
        " 'name') as select 1 as id, 'x' as a, 'y' as b"
    )
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        shared.sql(f"alter table {{schema}}.swapped rename column {old} to {new}")
    # A folder in which Hadoop sees a pattern, and a column that hides a row's file.
    shared.sql(
        f"create table {{schema}}.globbed using delta location '{shared.path}/a{{b,c}}[d]*/t'"
        " as select 1 as id"
    )
    shared.sql("create table {schema}.hidden using delta as select 1 as _metadata")
    for name in ("globbed", "hidden"):
        shared.sql(f"insert into {{schema}}.{name} select 2")
    swapped, globbed, hidden = _json(
        shared,
        *[
            {"model": f"{shared.schema}.{name}", "from": 0}
            for name in ("swapped", "globbed", "hidden")
        ],
    )
    assert (swapped["added"], swapped["removed"], swapped["found_by"]) == (1, 1, "all")
    assert (globbed["added"], globbed["removed"], globbed["found_by"]) == (1, 0, "files")
    assert (hidden["added"], hidden["removed"], hidden["found_by"]) == (1, 0, "all")


def test_fail_if_decides_the_exit(shared: Project) -> None:
    version = tables.version(shared, "a")
    failed = _diff(
        shared,
        {"model": "a", "fail_if": "removed > 0"},
        {"model": "a", "fail_if": "changed > 0", "exclude_columns": ["name"]},
        {"model": "a", "from": 0, "to": 1, "fail_if": "changed > 1 or removed > 0"},
        check=False,
    )
    assert not failed.success
    assert "fail_if changed > 1 or removed > 0 holds (added 1, removed 0, changed 2" in (
        failed.output
    )
    # Each printed its report before that; one of them leaves the names out.
    assert failed.printed.count(f"{shared.schema}.a: version 0 -> version 1") == 3
    assert failed.printed.count('changed {"id": 0} name "***" -> "***"') == 2
    assert tables.version(shared, "a") == version


def test_two_relations_and_two_schemas(shared: Project) -> None:
    other = f"{shared.schema}_ci"
    shared.sql(f"create schema {other}")
    shared.sql(
        f"create table {other}.a using delta as"
        " select id, name, x + if(id = 0, 0.001D, 0.5D) as x, 1 as extra from {schema}.a"
    )
    shared.sql(f"create view {other}.v as select * from {{schema}}.v")
    schemas = {"schema_a": shared.schema, "schema_b": other, "output": "json"}
    failed = _diff(
        shared,
        {
            **{"a": f"{shared.schema}.a", "b": f"{other}.a"},
            **{"tolerance": {"x": 0.01}, "output": "json"},
        },
        {**schemas, "select": "a b v"},
        {**schemas, "select": "a+,config.materialized:view"},
        {**schemas, "fail_if": "removed > 0"},
        check=False,
    )
    assert not failed.success
    assert "fail_if removed > 0 holds" in failed.output
    found, reports, chosen, whole = _reports(failed)
    assert (found["changed"], found["columns"]) == (2, {"x": 2})
    assert [(c["kind"], c["path"]) for c in found["schema"]] == [("add", ["extra"])]
    counts = {r["name"]: (r["changed"], r["note"]) for r in reports}
    assert counts == {
        "a": (3, ""),
        "b": (0, f"only in {shared.schema}"),
        "v": (0, "no unique_key"),
    }
    assert [r["name"] for r in chosen] == ["v", "w"]
    # All models, where none are selected.
    assert [r["name"] for r in whole] == ["a", "b", "c", "v", "w"]


def test_models_whose_state_changed(project: Project) -> None:
    project.write(MODELS)
    state = project.path / "before"
    state.mkdir()
    project.writes_json = True
    project.dbt("parse", vars={"step": 3})
    (project.path / "target" / "manifest.json").rename(state / "manifest.json")
    project.write({"models/b.sql": MODELS["models/b.sql"].replace("1 as n", "2 as n")})
    schemas = {"schema_a": project.schema, "schema_b": project.schema}
    ((found,),) = _json(project, {**schemas, "select": "state:modified", "state": "before"})
    assert found["name"] == "b"


def test_markdown_fits_and_is_stable(shared: Project) -> None:
    # Another table of model a, in a schema of its own.
    other = f"{shared.schema}_wide"
    shared.sql(f"create schema {other}")
    shared.sql(f"create table {other}.a using delta as select * from {{schema}}.a")
    shared.sql(f"insert into {other}.a select id + 100, repeat('`|', 400), 0.0D from range(500)")
    long = {"model": f"{other}.a", "output": "markdown", "limit": 500, "exclude_columns": ["x"]}
    shown = _diff(shared, long, long).printed
    one = shown[: len(shown) // 2]
    assert shown == f"{one}\n{one}"
    assert len(one) < 65_000
    assert "***" in one
    assert "`|" not in one
    assert f"| {other}.a | 3 | 503 | 500 | 0 | 0 | 0 |" in one


def test_what_cannot_be_is_refused(shared: Project) -> None:
    refused = _diff(shared, {"model": "a", "unique_key": "nope"}, check=False)
    assert not refused.success
    assert "unique_key names 'nope', which is not a column" in refused.output


def test_generic_tests(shared: Project) -> None:
    shared.sql("optimize {schema}.c")
    version = tables.version(shared, "c")
    passed = shared.dbt("test", vars={"step": 3, "since": 1})
    assert {r.status for r in passed.results} == {"pass"}
    assert len(passed.results) == 4
    shared.sql("insert into {schema}.c select 1")
    shared.sql("create or replace view {schema}.w as select id, name, x + 1 as x from {schema}.a")
    failed = shared.dbt("test", vars={"step": 3, "since": version}, check=False)
    statuses = {r.node.name.partition("_c_")[0]: r.status for r in failed.results}
    assert statuses["dbt_delta_no_change_since"] == "fail"
    assert statuses["dbt_delta_row_count_between"] == "fail"
    assert [r.node.name for r in failed.results if r.status != "fail"] == ["but_x"]
    assert [r.failures for r in failed.results if "no_change" in r.node.name] == [1]
