"""After maintain, every version that is young enough reads the same rows; of random tables.

Each table has old commits, whose log and files are made a month older, and young ones.

    DBT_DELTA_EXAMPLES=200     tables, in projects of 4 each (default 4, with --long 24)
    DBT_DELTA_SEED             which ones; see drawing.py
"""

import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.drawing import SEED, examples
from tests.functional.harness import Project, session
from tests.functional.maintenance.running import operation

SLICE, MONTH = 4, 30 * 86_400
VARS = {
    "dbt_delta_maintenance": {"min_small_files": 3, "reclaimable_share": 0.01},
}
UNBLOCKED = "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"
# How often each row is in a version of a table.
Rows = Counter[tuple[Any, ...]]


@pytest.mark.long
def test_no_version_inside_the_floor_changes(new_project: Callable[..., Project]) -> None:
    for number, first in enumerate(range(0, examples(SLICE, 24), SLICE)):
        project = new_project(f"slice_{number}")
        project.sql("create schema {schema}")
        drawn = [random.Random(f"{SEED} {first + n}") for n in range(SLICE)]
        kept: dict[str, range] = {}
        for n, draw in enumerate(drawn):
            name = f"t{n}"
            zorder = draw.choice(["", ", zorder='id'"])
            kept[name] = _make(project, name, draw, clustered=not zorder and draw.random() < 0.4)
            model = f"{{{{ config(materialized='table'{zorder}) }}}} select 1 as id"
            project.write({f"models/{name}.sql": model})
        rows, files = _rows_of(project, kept), tables.data_files(project)
        operation(project, "maintain", vars=VARS)
        removed = files - tables.data_files(project)
        found = _rows_of(project, kept)
        changed = [at for at in rows.keys() | found.keys() if found.get(at) != rows.get(at)]
        assert not changed, (SEED, first)
        assert removed, "no file was old enough to tell"
        versions = tables.versions(project, kept)
        again = operation(project, "maintain", vars=VARS)
        assert f"Nothing is worth doing in {len(kept)} tables." in again.output
        assert tables.versions(project, kept) == versions


def _make(project: Project, name: str, draw: random.Random, clustered: bool) -> range:
    """The versions that must stay, of a table with old and young commits."""
    partitioned = not clustered and draw.random() < 0.5
    clause = "cluster by (id)" if clustered else "partitioned by (p)" if partitioned else ""
    vectors = draw.choice(["true", "false"])
    project.sql(
        f"create table {{schema}}.{name} using delta {clause} tblproperties ("
        f"'delta.enableDeletionVectors' = '{vectors}', 'delta.checkpointInterval' = '3') "
        f"as {_rows(draw)}"
    )
    for _ in range(draw.randrange(2, 6)):
        _change(project, name, draw, 0)
    _age(project.warehouse / name)
    old = tables.version(project, name)
    for _ in range(draw.randrange(2, 6)):
        _change(project, name, draw, old + 1)
    return range(old, tables.version(project, name) + 1)


def _rows(draw: random.Random) -> str:
    low, count = draw.randrange(60), draw.randrange(1, 40)
    files = draw.randrange(1, 5)
    return (
        f"select id, if(id % 7 = 0, null, int(id % 3)) as p, '{draw.random()}' as v "
        f"from range({low}, {low + count}, 1, {files})"
    )


def _change(project: Project, name: str, draw: random.Random, oldest: int) -> None:
    """A commit; a version is restored only from ``oldest`` on, as Delta blocks older ones."""
    low = draw.randrange(60)
    some = f"id between {low} and {low + draw.randrange(30)}"
    table = f"{{schema}}.{name}"
    project.sql(
        draw.choice(
            [
                f"insert into {table} {_rows(draw)}",
                f"insert into {table} {_rows(draw)}",
                f"delete from {table} where {some}",
                f"delete from {table} where p = {draw.randrange(3)}",
                f"update {table} set v = 'new' where {some}",
                f"merge into {table} as t using ({_rows(draw)}) as s on t.id = s.id and t.v < s.v "
                "when not matched then insert *",
                f"insert overwrite {table} {_rows(draw)}",
                f"optimize {table}",
                *[
                    f"restore table {table} to version as of {version}"
                    for version in range(oldest, tables.version(project, name))
                ][:1],
            ]
        )
    )


def _rows_of(project: Project, kept: dict[str, range]) -> dict[tuple[str, int], Rows]:
    """All rows of these versions of tables."""
    parts = [
        f"select '{name}' as name, {version} as version, * "
        f"from {{schema}}.{name} version as of {version}"
        for name, versions in kept.items()
        for version in versions
    ]
    try:
        session().conf.set(UNBLOCKED, "false")
        found = project.sql(" union all ".join(parts))
    finally:
        session().conf.unset(UNBLOCKED)
    rows: dict[tuple[str, int], Rows] = {}
    for row in found:
        rows.setdefault((row["name"], row["version"]), Counter())[tuple(row)[2:]] += 1
    return rows


def _age(table: Path) -> None:
    """Makes all commits and files of a table a month older."""
    log = table / "_delta_log"
    for path in {*log.glob("*.crc"), *log.glob("*.checkpoint*")}:
        path.unlink()
    (log / "_last_checkpoint").unlink(missing_ok=True)
    for path in log.glob("*.json"):
        lines = [_older(json.loads(line)) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for path in table.rglob("*"):
        past = path.stat().st_mtime - MONTH
        os.utime(path, (past, past))
    session()._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def _older(action: Any) -> Any:
    if isinstance(action, dict):
        times = r"(timestamp|deletionTimestamp|modificationTime|inCommitTimestamp)"
        return {
            key: value - MONTH * 1000
            if re.fullmatch(times, key) and isinstance(value, int)
            else _older(value)
            for key, value in action.items()
        }
    return action
