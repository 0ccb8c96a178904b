"""The run operation diff, and the tests that stand on it: what they say, and how they end."""

import json
from typing import Any

import pytest

from tests.functional.harness import Invocation, Project

MODELS = {
    "models/a.sql": (
        "{{ config(materialized='incremental', unique_key='id') }}"
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


def _run(project: Project, step: int, *arguments: str, **variables: Any) -> Invocation:
    return project.dbt("run", *arguments, vars={"step": step, **variables})


def _diff(project: Project, check: bool = True, step: int = 3, **arguments: Any) -> Invocation:
    return project.dbt(
        *("--quiet", "run-operation", "diff", "--args", json.dumps(arguments)),
        vars={"step": step},
        check=check,
    )


def _json(project: Project, **arguments: Any) -> Any:
    return json.loads(_diff(project, output="json", **arguments).printed)


@pytest.fixture
def built(project: Project) -> Project:
    """Model a: ids 0 and 1, then 0 to 2 with names that differ."""
    project.write(MODELS)
    _run(project, 2)
    _run(project, 3, mark="!")
    return project


def test_versions_of_a_model(built: Project) -> None:
    found = _json(built, model="a")
    assert (found["added"], found["removed"], found["changed"]) == (1, 0, 2)
    assert (found["rows_before"], found["rows_after"]) == (2, 3)
    assert (found["columns"], found["unique_key"]) == ({"name": 2}, ["id"])
    samples = {(s["kind"], s["after"]["id"]): s["after"]["name"] for s in found["samples"]}
    # Marked as personal data.
    assert samples == {("added", 2): "***", ("changed", 0): "***", ("changed", 1): "***"}
    text = _diff(built, model="a", **{"from": 0, "to": 1}).output
    assert f"{built.schema}.a: version 0 -> version 1" in text
    assert 'changed {"id": 0} name "***" -> "***"' in text
    back = _json(built, model="a", **{"from": 1, "to": 0})
    assert (back["added"], back["removed"], back["changed"]) == (0, 1, 2)
    run = _json(built, model="a", **{"from": "run:last"})
    assert (run["added"], run["before"]) == (1, "version 0")
    whole = _json(built, model="b", **{"from": 0})
    assert (whole["added"], whole["unique_key"]) == (1, [])


def test_moved_rows_are_no_difference(built: Project) -> None:
    built.sql("insert into {schema}.a select 7, 'seven', 0.0D")
    built.sql("optimize {schema}.a")
    found = _json(built, model="a", **{"from": 2})
    assert (found["found_by"], found["added"], found["samples"]) == ("none", 0, [])
    assert built.history("a")[0]["operation"] == "OPTIMIZE"


def test_fail_if_decides_the_exit(built: Project) -> None:
    version = built.version("a")
    failed = _diff(built, model="a", fail_if="changed > 1 or removed > 0", check=False)
    assert not failed.success
    assert "fail_if changed > 1 or removed > 0 holds (added 1, removed 0, changed 2" in (
        failed.output
    )
    assert _diff(built, model="a", fail_if="removed > 0").success
    excluded = _diff(built, model="a", fail_if="changed > 0", exclude_columns=["name"])
    assert excluded.success
    assert built.version("a") == version


def test_two_relations_and_two_schemas(built: Project) -> None:
    other = f"{built.schema}_ci"
    built.sql(f"create schema {other}")
    built.sql(
        f"create table {other}.a using delta as"
        " select id, name, x + if(id = 0, 0.001D, 0.5D) as x, 1 as extra from {schema}.a"
    )
    built.sql(f"create view {other}.v as select * from {{schema}}.v")
    found = _json(built, a=f"{built.schema}.a", b=f"{other}.a", tolerance={"x": 0.01})
    assert (found["changed"], found["columns"]) == (2, {"x": 2})
    assert [(c["kind"], c["path"]) for c in found["schema"]] == [("add", ["extra"])]
    reports = _json(built, schema_a=built.schema, schema_b=other)
    counts = {r["name"]: (r["changed"], r["note"]) for r in reports}
    assert counts == {
        "a": (3, ""),
        "b": (0, f"only in {built.schema}"),
        "v": (0, "no unique_key"),
    }
    chosen = _json(
        built, schema_a=built.schema, schema_b=other, select="a+,config.materialized:view"
    )
    assert [r["name"] for r in chosen] == ["v"]
    assert not _diff(
        built, schema_a=built.schema, schema_b=other, fail_if="removed > 0", check=False
    ).success


def test_models_whose_state_changed(built: Project) -> None:
    state = built.path / "before"
    state.mkdir()
    built.writes_json = True
    built.dbt("parse")
    (built.path / "target" / "manifest.json").rename(state / "manifest.json")
    built.write({"models/b.sql": MODELS["models/b.sql"].replace("1 as n", "2 as n")})
    found = _json(
        built, schema_a=built.schema, schema_b=built.schema, select="state:modified", state="before"
    )
    assert [r["name"] for r in found] == ["b"]


def test_markdown_fits_and_is_stable(built: Project) -> None:
    built.sql("insert into {schema}.a select id + 100, repeat('`|', 400), 0.0D from range(500)")
    shown = [
        _diff(built, model="a", output="markdown", limit=500, exclude_columns=["x"]).printed
        for _ in range(2)
    ]
    assert shown[0] == shown[1]
    assert len(shown[0]) < 65_000
    assert "***" in shown[0]
    assert "`|" not in shown[0]
    assert f"| {built.schema}.a | 3 | 503 | 500 | 0 | 0 | 0 |" in shown[0]


REFUSED: list[tuple[Any, str]] = [
    ({}, "diff takes one of {model: orders, from: previous}"),
    ({"model": "a", "a": "x.y", "b": "x.z"}, "diff takes one of"),
    ({"model": "a", "output": "xml"}, "diff has output 'xml'. It is one of text, json"),
    ({"model": "a", "unique_key": "nope"}, "unique_key names 'nope', which is no column"),
    ({"model": "a", "tolerance": {"name": 1}}, "names 'name', which is a string; it is for"),
    ({"model": "b", "tolerance": {"n": 1}}, "tolerance needs unique_key"),
    ({"model": "a", "tolerance": {"x": "much"}}, "tolerance of 'x' is much. Give a number"),
    ({"a": "x.y", "b": "x.z"}, "diff: `x`.`y` is not in the catalog."),
    ({"model": "v"}, "there is no model, seed or snapshot 'v'"),
]


def test_what_cannot_be_is_refused(built: Project) -> None:
    for arguments, said in REFUSED:
        refused = _diff(built, check=False, **arguments)
        assert not refused.success, arguments
        assert said in refused.output


def test_generic_tests(built: Project) -> None:
    built.write(
        {
            "models/t.yml": """
                models:
                  - name: b
                    data_tests:
                      - dbt_delta.no_change_since:
                          arguments: {since: "{{ var('since') }}"}
                      - dbt_delta.row_count_between:
                          arguments: {min: 1, max: 3}
                  - name: v
                    data_tests:
                      - dbt_delta.reconciles_with:
                          arguments: {to: ref('a'), unique_key: id}
            """
        }
    )
    built.sql("optimize {schema}.b")
    version = built.version("b")
    passed = built.dbt("test", vars={"step": 3, "since": 1})
    assert {r.status for r in passed.results} == {"pass"}
    assert len(passed.results) == 3
    built.sql("insert into {schema}.b select 1")
    built.sql("create or replace view {schema}.v as select id, name, x + 1 as x from {schema}.a")
    failed = built.dbt("test", vars={"step": 3, "since": version}, check=False)
    statuses = {r.node.name.partition("_b_")[0]: r.status for r in failed.results}
    assert statuses["dbt_delta_no_change_since"] == "fail"
    assert statuses["dbt_delta_row_count_between"] == "fail"
    assert {r.status for r in failed.results} == {"fail"}
    assert [r.failures for r in failed.results if "no_change" in r.node.name] == [1]
