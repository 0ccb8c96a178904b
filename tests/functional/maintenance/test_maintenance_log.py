"""What the plan knows of a table it reads from a log of any form."""

import json
from typing import Any

import pytest

from tests.functional.harness import Project
from tests.functional.maintenance.running import operation

SETTING = "spark.databricks.delta.checkpointV2.topLevelFileFormat"
# By table: the policy of its checkpoints, and the format of their first file.
FORMATS = {
    "classic": ("classic", "parquet"),
    "of_parquet": ("v2", "parquet"),
    "of_json": ("v2", "json"),
}


@pytest.mark.long
def test_logs_that_begin_with_a_checkpoint(project: Project) -> None:
    project.sql("create schema if not exists {schema}")
    newest = {}
    for name, (policy, top_level) in FORMATS.items():
        project.write({f"models/{name}.sql": "{{ config(materialized='table') }} select 1 as id"})
        project.sql(f"set {SETTING} = {top_level}")
        _make(project, name, policy)
        log = project.warehouse / name / "_delta_log"
        newest[name] = sorted(log.glob("*.checkpoint*"))[-1].name
        assert newest[name].endswith(f".{top_level}")
        assert (newest[name].count(".") == 3) == (policy == "v2")
    project.sql(f"reset {SETTING}")
    whole = _plan(project)
    assert len(whole) == len(FORMATS)
    for name, checkpoint in newest.items():
        log = project.warehouse / name / "_delta_log"
        for path in log.glob("*.json"):
            if path.name < checkpoint[:20] + ".json" and len(path.name) == 25:
                path.unlink()
        for path in log.glob("*.checkpoint*"):
            if path.name != checkpoint:
                path.unlink()
        project.sql(f"refresh table {{schema}}.{name}")
    assert _plan(project) == whole
    counts = " union all ".join(f"select count(*) as n from {{schema}}.{name}" for name in newest)
    assert [row.n for row in project.sql(counts)] == [20] * len(FORMATS)


def _make(project: Project, name: str, policy: str) -> None:
    table = f"{{schema}}.{name}"
    project.sql(
        f"create table {table} (id bigint, day date) using delta partitioned by (day) "
        f"tblproperties ('delta.checkpointInterval' = '3', 'delta.checkpointPolicy' = '{policy}', "
        "'delta.enableDeletionVectors' = 'true')"
    )
    for n in range(3):
        project.sql(
            f"insert into {table} select /*+ coalesce(1) */ id, date'2024-01-0{n % 2 + 1}' "
            f"from range({n * 10}, {n * 10 + 10})"
        )
    project.sql(f"delete from {table} where id in (3, 4) or id >= 20")
    project.sql(f"optimize {table} where day = '2024-01-02'")
    for n in range(2):
        project.sql(f"insert into {table} values ({100 + n}, date'2024-01-03')")


def _plan(project: Project) -> list[dict[str, Any]]:
    lines = json.loads(operation(project, "maintenance_plan", output="json").printed)
    # A checkpoint names no operations.
    return [{**line, "last_optimize": None} for line in lines]
