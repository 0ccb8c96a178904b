"""A failure at any statement of any flow: the old rows or the new ones, and a rerun mends all.

DBT_DELTA_FAILURES=12   how many statements fail, in turn (default 3: the first, and two at random)
"""

import os
import random
from collections import Counter
from typing import Any

import pytest

from tests.functional.harness import Project

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
    "compared": (DELTA, {**DELTA, "skip_unchanged": True}),
    "to_table": (VIEW, DELTA),
    "to_view": (DELTA, VIEW),
    "to_delta": (PARQUET, DELTA),
    "to_parquet": (DELTA, PARQUET),
    "to_partitions": ({**DELTA, "liquid_clustered_by": "id"}, {**DELTA, "partition_by": "p"}),
    "to_incremental": (VIEW, INCREMENTAL),
    "refreshed": (INCREMENTAL, INCREMENTAL),
}
STEPS = range(2, 13)  # after the first; the longest flow has less
FAILURES = int(os.environ.get("DBT_DELTA_FAILURES", "3"))


@pytest.fixture
def fail_at(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Set ``step``: that statement of each model fails; ``reached`` counts the models it hit."""
    from dbt.adapters.spark.connections import SparkConnectionManager
    from dbt_common.exceptions import DbtDatabaseError

    state = {"step": 0, "reached": 0}
    counts: Counter[tuple[int, str]] = Counter()
    stock = SparkConnectionManager.execute

    def execute(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        name = self.get_thread_connection().name or ""
        if state["step"] and name.startswith("model."):
            key = (state["step"], name)
            counts[key] += 1
            if counts[key] == state["step"]:
                state["reached"] += 1
                raise DbtDatabaseError("injected")
        return stock(self, sql, *arguments, **named)

    monkeypatch.setattr(SparkConnectionManager, "execute", execute)
    return state


def test_every_statement_may_fail(project: Project, fail_at: dict[str, int]) -> None:
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
    reached = {}
    for step in sorted([*random.SystemRandom().sample(STEPS, FAILURES - 1), 1]):
        print(f"statement {step} fails")
        project.dbt("run", "--full-refresh", vars={"after": False})
        assert _ids(project) == dict.fromkeys(FLOWS, 1)
        fail_at.update(step=step, reached=0)
        failed = project.dbt("run", "--full-refresh", vars={"after": True}, check=False)
        left = _ids(project)
        assert set(left.values()) <= {1, 2}, left
        assert all("injected" in r.message for r in failed.results if r.status == "error")
        reached[step], fail_at["step"] = fail_at["reached"], 0
        project.dbt("run", "--full-refresh", vars={"after": True})
        assert _ids(project) == dict.fromkeys(FLOWS, 2)
        assert {row.tableName for row in project.sql("show tables in {schema}")} == set(FLOWS)
    assert reached[1] == len(FLOWS)


def _ids(project: Project) -> dict[str, int]:
    """The one row that each relation has."""
    found = {}
    for name in FLOWS:
        project.sql(f"refresh table {project.relation(name)}")
        (row,) = project.rows(name)
        found[name] = row["id"]
    return found
