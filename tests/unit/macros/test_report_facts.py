"""What the report asks the tables for."""

from types import SimpleNamespace
from typing import Any

import pytest


def relation(name: str) -> SimpleNamespace:
    return SimpleNamespace(schema="shop", identifier=name)


def table(name: str) -> dict[str, Any]:
    node = {"unique_id": f"model.p.{name}"}
    return {"relation": relation(name), "location": f"file:/w/{name}", "node": node}


def row(id: int, version: int, operation: str | None = "MERGE", problem: str | None = None) -> Any:
    return {
        "id": id,
        "version": version,
        "timestamp": None,
        "written": version * 1000,
        "operation": operation,
        "operationParameters": "{}",
        "operationMetrics": '{"numTargetRowsInserted": "3"}',
        "userMetadata": "{}",
        "problem": problem,
    }


@pytest.fixture
def package(macros) -> Any:
    found = macros(api=SimpleNamespace(Relation=SimpleNamespace(create=_create)))
    found._bare = lambda one: f"{one.schema}.{one.identifier}"
    found._quarantine_of = lambda one: relation(f"{one.identifier}__quarantine")
    return found


def _create(schema: str, identifier: str, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(schema=schema, identifier=identifier)


def test_histories_of_tables_and_their_quarantines_in_one_look(package) -> None:
    entry = {"schema": "shop", "provider": "delta"}
    package._listing = lambda schemas: [
        {**entry, "name": "orders__quarantine", "location": "file:///w/q/"},
        {**entry, "name": "somebody_elses", "location": "file:/w/x"},
        {**entry, "name": "items__quarantine", "location": "", "provider": "view"},
    ]
    looked = []

    def read(tables: list[Any], kind: str, since: int) -> dict[str, Any]:
        looked.append(([one["location"] for one in tables], kind, since))
        rows = [row(0, 2), row(0, 1), row(1, 7, problem="a version is missing"), row(2, 5)]
        return {"rows": [*rows, row(1, 6, operation=None)], "problems": {0: "no access"}}

    package._read_logs = read
    found = package._read_histories([table("orders"), table("items")], 42)
    assert looked == [(["file:/w/orders", "file:/w/items", "file:/w/q"], "tagged", 42)]
    versions = {
        kind: {id: [one["version"] for one in own] for id, own in found[kind].items()}
        for kind in ("commits", "quarantines")
    }
    assert versions == {
        "commits": {"model.p.orders": [2, 1], "model.p.items": [7]},
        "quarantines": {"model.p.orders": [5]},
    }
    assert found["commits"]["model.p.orders"][0]["written"] == 2000
    assert found["problems"] == [
        "shop.orders: its log cannot be read (no access)",
        "shop.items: a version is missing",
    ]


def test_all_commits_since_a_time_have_their_metrics(package) -> None:
    package._logs_sql = lambda logs, since: f"with logs since {since}"
    package._logs_of_tables = lambda: ""
    some = package._tagged_sql([])
    assert "'{}' as operationMetrics" in some
    assert "like '%dbt_invocation_id%'" in some
    every = package._tagged_sql([], 7200000)
    assert "to_json(about.operationMetrics) as operationMetrics" in every
    assert ">= 7200000" in every
    assert "with logs since 3600000" in every  # a file may be younger than its commit's clock
    assert "dbt_invocation_id" not in every


@pytest.mark.parametrize(
    ("operation", "parameters", "is_whole"),
    [
        ("CREATE OR REPLACE TABLE AS SELECT", {}, True),
        ("WRITE", {"mode": "Overwrite"}, True),
        ("WRITE", {"mode": "Overwrite", "predicate": "[]"}, True),
        ("WRITE", {"mode": "Overwrite", "predicate": "day = 3"}, False),
        ("WRITE", {"mode": "Append"}, False),
        ("MERGE", {}, False),
    ],
)
def test_whether_a_commit_wrote_all_rows(package, operation, parameters, is_whole) -> None:
    commit = {
        **package._tag(None),
        **{"version": 1, "time": None, "operation": operation, "parameters": parameters},
        **{"metrics": {}, "written": 5},
    }
    found = package._reported_commit(commit)
    assert found["is_whole"] is is_whole
    assert found["inserted"] is None
    assert "parameters" not in found  # a predicate may have values


def test_values_of_partitions_stay_out(package) -> None:
    step = {"do": "compact", "why": "9 files", "gain": 3, "bytes": 2, "partitions": [{"a": "Jane"}]}
    package._plan_line = lambda one: {"steps": [step], "partitions": [{"values": {"a": "Jane"}}]}
    package._dead_bytes = lambda one: 9
    found = package._reported({"state": {"commits": {0: 1, 1: 2}}})
    assert found == {
        "steps": [{"do": "compact", "why": "9 files", "gain": 3}],
        "partitions": 1,
        "versions": 2,
        "dead_bytes": 9,
    }
