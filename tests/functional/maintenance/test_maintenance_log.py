"""What the plan knows of a table it reads from a log of any form."""

import json
from typing import Any

import pytest

from tests.functional.harness import Project
from tests.functional.maintenance.running import operation


def plan(project: Project) -> list[dict[str, Any]]:
    lines = json.loads(operation(project, "maintenance_plan", output="json").printed)
    # A checkpoint names no operations.
    return [{**line, "last_optimize": None} for line in lines]


@pytest.mark.parametrize("kind", ["classic", "v2 parquet", "v2 json"])
def test_a_log_that_begins_with_a_checkpoint(project: Project, kind: str) -> None:
    policy, _, top_level = kind.partition(" ")
    project.sql("create schema if not exists {schema}")
    project.sql(
        "create table {schema}.t (id bigint, day date) using delta partitioned by (day) "
        f"tblproperties ('delta.checkpointInterval' = '3', 'delta.checkpointPolicy' = '{policy}', "
        "'delta.enableDeletionVectors' = 'true')"
    )
    project.write({"models/t.sql": "{{ config(materialized='table') }} select 1 as id"})
    setting = "spark.databricks.delta.checkpointV2.topLevelFileFormat"
    if top_level:
        project.sql(f"set {setting} = {top_level}")
    for n in range(3):
        project.sql(
            f"insert into {{schema}}.t select /*+ coalesce(1) */ id, date'2024-01-0{n % 2 + 1}' "
            f"from range({n * 10}, {n * 10 + 10})"
        )
    project.sql("delete from {schema}.t where id in (3, 4) or id >= 20")
    project.sql("optimize {schema}.t where day = '2024-01-02'")
    for n in range(2):
        project.sql(f"insert into {{schema}}.t values ({100 + n}, date'2024-01-03')")
    if top_level:
        project.sql(f"reset {setting}")
    whole = plan(project)
    log = project.warehouse / "t" / "_delta_log"
    checkpoints = sorted(log.glob("*.checkpoint*"))
    newest = checkpoints[-1].name
    assert newest.endswith(".json") if top_level == "json" else newest.endswith(".parquet")
    for path in log.glob("*.json"):
        if path.name < newest[:20] + ".json" and len(path.name) == 25:
            path.unlink()
    for path in checkpoints[:-1]:
        path.unlink()
    project.sql("refresh table {schema}.t")
    assert plan(project) == whole
    assert project.sql("select count(*) as n from {schema}.t")[0].n == 20
