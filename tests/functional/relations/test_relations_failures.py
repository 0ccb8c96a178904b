"""A failure at any statement of any flow: the old rows or the new ones, and a rerun mends all.

All flows fail at their first statement, then each at a later one; with --long at each in turn.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.drawing import IS_LONG
from tests.functional.harness import Project, read

DELTA = {"materialized": "table"}
PARQUET = {"materialized": "table", "file_format": "parquet"}
VIEW = {"materialized": "view"}
INCREMENTAL = {"materialized": "incremental", "unique_key": "id", "duplicate_keys": "error"}
PROMISES = {
    **DELTA,
    "persist_docs": {"columns": True},
    "partition_by": "p",
    "persist_constraints": True,
    "tblproperties": {
        "delta.columnMapping.mode": "name",
        "delta.enableChangeDataFeed": "true",
    },
}
FLOWS = {
    "rebuilt": (DELTA, DELTA),
    "promised": (DELTA, PROMISES),
    # With --full-refresh nothing would be compared.
    "compared": (DELTA, {**DELTA, "skip_unchanged": True, "full_refresh": False}),
    "to_table": (VIEW, DELTA),
    "to_view": (DELTA, VIEW),
    "to_delta": (PARQUET, DELTA),
    "to_parquet": (DELTA, PARQUET),
    "to_partitions": ({**DELTA, "liquid_clustered_by": "id"}, {**DELTA, "partition_by": "p"}),
    "to_incremental": (VIEW, INCREMENTAL),
    "refreshed": (INCREMENTAL, INCREMENTAL),
}
# The statement that writes, one that comes between staging and that, the swap, what comes after it.
LATER = {
    "rebuilt": 1, "promised": 2, "compared": 2, "to_table": 3, "to_view": 2, "to_delta": 3,
    "to_parquet": 2, "to_partitions": 2, "to_incremental": 2, "refreshed": 3,
}  # fmt: skip
STEPS = range(1, 13)  # the longest flow has less


@dataclass
class Failing:
    """The statement of each flow that fails, and the flows that came as far."""

    steps: dict[str, int] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    reached: set[str] = field(default_factory=set)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    from dbt.adapters.spark.connections import SparkConnectionManager
    from dbt_common.exceptions import DbtDatabaseError

    found = Failing()
    stock = SparkConnectionManager.execute

    def execute(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        kind, _, name = (self.get_thread_connection().name or "").rpartition(".")
        if kind.startswith("model.") and name in found.steps:
            found.sent[name] += 1
            if found.sent[name] == found.steps[name]:
                found.reached.add(name)
                raise DbtDatabaseError("injected")
        return stock(self, sql, *arguments, **named)

    monkeypatch.setattr(SparkConnectionManager, "execute", execute)
    return found


def _turns() -> list[dict[str, int]]:
    """The statement of each flow that fails in each turn."""
    if IS_LONG:
        return [dict.fromkeys(FLOWS, step) for step in STEPS]
    return [dict.fromkeys(FLOWS, 1), LATER]


@pytest.mark.long
def test_every_statement_may_fail(project: Project, failing: Failing) -> None:
    def config(options: dict[str, Any]) -> str:
        return "{{ config(" + ", ".join(f"{k}={v!r}" for k, v in options.items()) + ") }}"

    project.write(
        {
            f"models/{name}.sql": f"{{% if var('after') %}}{config(after)}"
            " select distinct 2 as id, 1 as p {% else %}"
            f"{config(before)} select 1 as id, 1 as p {{% endif %}}"
            for name, (before, after) in FLOWS.items()
        }
    )
    columns = "columns: [{name: id, description: key, constraints: [{type: not_null}]}]"
    project.write({"models/s.yml": f"models: [{{name: promised, {columns}}}]"})
    before, after = dict.fromkeys(FLOWS, 1), dict.fromkeys(FLOWS, 2)
    left: dict[str, int] = {}
    for steps in _turns():
        print(f"statements {steps} fail")
        if left != before:
            project.dbt("run", "--full-refresh", vars={"after": False})
            assert _ids(project) == before
        failing.steps, failing.sent, failing.reached = steps, Counter(), set()
        failed = project.dbt("run", "--full-refresh", vars={"after": True}, check=False)
        failing.steps = {}
        errors = {r.node.name: r.message for r in failed.results if r.status == "error"}
        assert set(errors) <= failing.reached
        assert all("injected" in message for message in errors.values())
        left = _ids(project)
        assert set(left.values()) <= {1, 2}, left
        assert IS_LONG or failing.reached == set(FLOWS)
        if set(steps.values()) == {1}:
            assert failing.reached == set(FLOWS)
            assert left == before
            continue
        project.dbt("run", "--full-refresh", vars={"after": True})
        left = _ids(project)
        assert left == after
        assert sorted(tables.names(project)) == sorted(FLOWS)


def _ids(project: Project) -> dict[str, int]:
    """The one row that each relation has."""
    # Another session keeps the list of a parquet table's files.
    for name in ("to_delta", "to_parquet"):
        read(f"refresh table {project.relation(name)}")
    rows = tables.json_rows(project, list(FLOWS))
    assert {len(some) for some in rows.values()} == {1}
    return {name: json.loads(rows[name][0])["id"] for name in FLOWS}
