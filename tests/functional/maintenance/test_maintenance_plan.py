"""maintenance_plan and maintain: all that is worth doing, and nothing else."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dbt_delta.session.adapter import DeltaAdapter
from tests.functional import tables
from tests.functional.harness import Project, read, session
from tests.functional.maintenance.running import operation, operations

# Files of a few kilobytes are what files of a few megabytes are elsewhere.
THRESHOLDS = {"small_file_mb": 0.02, "target_file_mb": 1}
VECTORS = "'delta.enableDeletionVectors' = 'true'"
EXPIRED = "'delta.deletedFileRetentionDuration' = 'interval 0 seconds'"
SMALL, BIG = "range(0, 90, 1, 9)", "range(0, 6000, 1, {n})"
ROWS = "select id, id % 7 as v, uuid() as text from {rows}"


def some(rows: str, n: int = 1) -> str:
    return ROWS.format(rows=rows.format(n=n))


def table(rows: str, clauses: str = "") -> str:
    return f"create table {{name}} using delta {clauses} as {rows}"


# By model: its configuration, the statements that made the table, and the steps it is due:
# what, and in which partitions.
BY_P = "partitioned by (p)"
P = "select *, int(null) as p from ({one}) union all select *, 1 as p from ({other})"
TABLES: dict[str, tuple[str, list[str], list[tuple[str, list[Any]]]]] = {
    "tiny": ("", [table(some(SMALL))], [("compact", [])]),
    "few": ("", [table(some("range(0, 90, 1, 7)"))], []),
    "many_big": ("", [table(some(BIG, 8))], []),
    "mixed": ("", [table(some(BIG, 2)), f"insert into {{name}} {some(SMALL)}"], [("compact", [])]),
    "few_wanted": (
        "maintenance={'min_small_files': 3}",
        [table(some("range(0, 90, 1, 4)"))],
        [("compact", [])],
    ),
    "vectors": (
        "",
        [
            table(some(BIG, 1), f"tblproperties ({VECTORS})"),
            "delete from {name} where id % 5 = 1",
        ],
        [("purge", [])],
    ),
    "vectors_few": (
        "",
        [table(some(BIG, 1), f"tblproperties ({VECTORS})"), "delete from {name} where id < 99"],
        [],
    ),
    "skewed": (
        "",
        [table(P.format(one=some(SMALL), other=some(BIG, 1)), BY_P)],
        [("compact", [{"p": None}])],
    ),
    "vectors_in_part": (
        "",
        [
            table(
                P.format(one=some(BIG, 1), other=some(BIG, 1)), f"{BY_P} tblproperties ({VECTORS})"
            ),
            "delete from {name} where p = 1 and id < 3000",
        ],
        [("purge", [{"p": "1"}])],
    ),
    "clustered": ("", [table(some(SMALL), "cluster by (id)")], [("cluster", [])]),
    "clustered_done": ("", [table(some(BIG, 3), "cluster by (id)"), "optimize {name}"], []),
    "clustered_nearly": (
        "",
        [
            table(some(BIG, 3), "cluster by (id)"),
            "optimize {name}",
            f"insert into {{name}} {some(SMALL)}",
        ],
        [],
    ),
    "zorder": ("zorder='v'", [table(some(SMALL))], [("zorder", [])]),
    "zorder_done": (
        "zorder=['v', 'id']",
        [table(some(BIG, 3)), "optimize {name} zorder by (v, id)"],
        [],
    ),
    "zorder_other": (
        "zorder='id'",
        [
            table(some(BIG, 3)),
            "optimize {name} zorder by (v)",
            f"insert into {{name}} {some('range(9)')}",
        ],
        [("zorder", [])],
    ),
    "zorder_in_part": (
        "zorder='v', partition_by='p'",
        [
            table(P.format(one=some(BIG, 2), other=some(BIG, 2)), BY_P),
            "optimize {name} zorder by (v)",
            f"insert into {{name}} select *, 1 as p from ({some(BIG, 2)})",
        ],
        [("zorder", [{"p": "1"}])],
    ),
    "fresh": ("", [table("select 1 as id")], []),
    "kept": ("", [table(some(SMALL)), "delete from {name}"], []),
    "expired": (
        "",
        [table(some(BIG, 1), f"tblproperties ({EXPIRED})"), "delete from {name} where id > 9"],
        [("vacuum", [])],
    ),
    "skipped": ("skip_optimize=true", [table(some(SMALL))], []),
}
MODEL = "{{ config(materialized='table', CONFIG) }} select 1 as id"
NOT_PLANNED = {
    "a_parquet": ("", ["create table {name} using parquet as select 1 as id"]),
    "a_view": ("", ["create view {name} as select 1 as id"]),
    "not_built": ("", []),
}
VARS = {"dbt_delta_maintenance": THRESHOLDS, "dbt_delta_undo_days": 0}


@pytest.fixture(scope="module")
def fleet(new_shared_project: Callable[[str], Project]) -> Project:
    project = new_shared_project("fleet")
    project.sql("create schema {schema}")
    for name, (config, statements, *_) in {**TABLES, **NOT_PLANNED}.items():
        project.write({f"models/{name}.sql": MODEL.replace("CONFIG", config)})
        _make(project, name, statements)
    _make(project, "foreign", [table(some(SMALL))])
    project.write({"models/broken.sql": MODEL.replace("CONFIG", "")})
    _make(project, "broken", [table("select 1 as id")])
    shutil.rmtree(project.warehouse / "broken" / "_delta_log")
    return project


def _make(project: Project, name: str, statements: list[str]) -> None:
    for statement in statements:
        project.sql(statement.replace("{name}", project.relation(name)))


def _versions(project: Project) -> dict[str, int]:
    return tables.versions(project, [*TABLES, "foreign"])


def test_the_plan_marks_all_that_is_due_and_nothing_else(fleet: Project) -> None:
    versions = _versions(fleet)
    as_json, text = ("maintenance_plan", {"output": "json"}), ("maintenance_plan", {})
    planned, *shown = operations(fleet, as_json, text, vars=VARS).printed.splitlines()
    lines = {line["table"].partition(".")[2]: line for line in json.loads(planned)}
    assert lines.pop("broken")["problem"] == "its log cannot be read"
    found = {n: [(s["do"], s["partitions"]) for s in line["steps"]] for n, line in lines.items()}
    assert found == {name: due for name, (_, _, due) in TABLES.items()}
    counts = [f"select '{n}' as name, count(*) as n from {fleet.relation(n)}" for n in lines]
    rows = {row.name: row.n for row in read(" union all ".join(counts))}
    for name, line in lines.items():
        sizes = tables.file_sizes(fleet, name)
        assert (line["files"], line["bytes"]) == (len(sizes), sum(sizes.values())), name
        assert line["rows"] - line["deleted_rows"] == rows[name], name
        assert line["version"] == versions[name]
    (line,) = (line for line in shown if line.startswith(f"{fleet.schema}.vectors "))
    assert line.endswith("20 % of the rows in the files are deleted")
    assert _versions(fleet) == versions


def test_maintain_does_the_plan_once(fleet: Project) -> None:
    versions, files = _versions(fleet), tables.data_files(fleet)
    rows = _rows(fleet)
    little = operation(fleet, "maintain", vars=VARS, budget_gb=0, select="tiny clustered")
    assert "2 of 2 steps were left: the budget was too small." in little.printed
    assert (_versions(fleet), tables.data_files(fleet)) == (versions, files)

    done = operation(fleet, "maintain", vars=VARS, check=False)
    due = sum(len(steps) for _, _, steps in TABLES.values())
    assert f"{due} of {due} vacuum {fleet.schema}.expired" in done.printed
    assert "1 file of" in done.printed.splitlines()[due - 1]
    # What cannot be maintained is told, and did not keep the others from it.
    assert not done.success
    assert f"maintain failed for {fleet.schema}.broken" in done.output
    after = _versions(fleet)
    assert {n for n in after if after[n] != versions[n]} == {n for n in TABLES if TABLES[n][2]}
    assert _rows(fleet) == rows
    assert len(tables.file_sizes(fleet, "vectors_in_part")) == 2

    again = operation(fleet, "maintain", vars=VARS, check=False)
    assert "Nothing is worth doing in" in again.printed
    assert _versions(fleet) == after


def _rows(project: Project) -> dict[str, list[str]]:
    return {name: sorted(rows) for name, rows in tables.json_rows(project, [*TABLES]).items()}


# By table: what becomes of a file of its log, and what is said of it.
BROKEN = {
    "unreadable": (b"another content than its checksum says", "its log cannot be read ("),
    "no_json": (
        b'{"commitInfo":{"timestamp":1',
        "its log cannot be read (version 1 is not valid JSON)",
    ),
    "gap": (None, "its log cannot be read (version 1 is missing)"),
}


@pytest.fixture(scope="module")
def partly_broken(fleet: Project) -> Iterator[Project]:
    """Its logs are whole again afterwards: other tests of the process read all schemas."""
    whole = {}
    for name, (content, _) in BROKEN.items():
        fleet.write({f"models/{name}.sql": MODEL.replace("CONFIG", "")})
        _make(fleet, name, [table(some(SMALL)), *["insert into {name} select 1, 1, 'x'"] * 2])
        log = fleet.warehouse / name / "_delta_log" / f"{1:020d}.json"
        if name != "unreadable":
            (log.parent / f".{log.name}.crc").unlink()
        whole[log] = log.read_bytes()
        log.write_bytes(content) if content else log.unlink()
    session()._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    yield fleet
    for log, before in whole.items():
        log.write_bytes(before)
    session()._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


@pytest.mark.session
@pytest.mark.parametrize("has_plugin", [True, pytest.param(False, marks=pytest.mark.long)])
def test_maintain_goes_on_beside_broken_logs(
    partly_broken: Project, has_plugin: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = partly_broken
    _make(project, "tiny", [f"insert into {{name}} {some(SMALL)}"])
    version, rows = tables.version(project, "tiny"), _rows(project)["tiny"]
    if not has_plugin:
        ours = {name for name in DeltaAdapter._available_ if name.startswith("dbt_delta_")}
        monkeypatch.setattr(DeltaAdapter, "_available_", DeltaAdapter._available_ - ours)
    done = operation(project, "maintain", vars=VARS, check=False)
    assert not done.success, done.output
    told = done.printed.splitlines()
    for name, (_, said) in BROKEN.items():
        lines = [line for line in told if line.startswith(f"{project.schema}.{name}: ")]
        assert len(lines) == 1, done.output
        assert lines[0].startswith(f"{project.schema}.{name}: {said}"), done.output
    (failed,) = re.findall("maintain failed for (.*)[.] The", done.output)
    assert {*failed.split(", ")} == {f"{project.schema}.{name}" for name in (*BROKEN, "broken")}
    assert tables.operations(project, "tiny")[-1] == "OPTIMIZE"
    assert (tables.version(project, "tiny"), _rows(project)["tiny"]) == (version + 1, rows)
