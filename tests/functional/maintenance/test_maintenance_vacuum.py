"""VACUUM takes no version that somebody needs, and leaves a table's retention as it was."""

import json
import shutil
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.harness import Invocation, Project
from tests.functional.maintenance.running import operation, operations

RETENTION = "delta.deletedFileRetentionDuration"
READ = ("read_version", "read_time", "read_by", "cloned")
NAMES = ("young", "undone", "killed", *READ, "forgotten", "strayed")


@pytest.fixture(scope="module")
def made(new_shared_project: Callable[[str], Project]) -> Project:
    """A project whose models' tables the tests make, each its own."""
    project = new_shared_project("vacuum")
    project.sql("create schema {schema}")
    model = "{{ config(materialized='table') }} select 1 as id"
    project.write({f"models/{name}.sql": model for name in NAMES})
    return project


def make(project: Project, name: str) -> None:
    """Version 0 has two files, of which version 1 has taken one away.

    The DELETE has written a third, without rows, that no commit names.
    """
    project.sql(
        f"create table {{schema}}.{name} using delta as select id, 'x' as v from range(0, 40, 1, 2)"
    )
    project.sql(f"delete from {{schema}}.{name} where id < 20")


def set_properties(project: Project, name: str, **properties: str) -> None:
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    project.sql(f"alter table {{schema}}.{name} set tblproperties ({pairs})")


def expire(project: Project, name: str, **properties: str) -> None:
    """All that left the table is old enough for its own retention."""
    set_properties(project, name, **{RETENTION: "interval 0 seconds"}, **properties)


def vacuum(
    project: Project, *names: str, check: bool = True, vars: Any = None, **arguments: Any
) -> Invocation:
    calls = [("vacuum", {"relation": f"{project.schema}.{name}", **arguments}) for name in names]
    return operations(project, *calls, vars=vars, check=check)


def short(project: Project, *names: str) -> dict[str, Any]:
    """Variables that allow fewer hours for these tables."""
    return {"dbt_delta_short_retention": [f"{project.schema}.{name}" for name in names]}


def properties(project: Project, name: str) -> dict[str, str]:
    found: dict[str, str] = tables.metadata(project, name)["configuration"]
    return found


def files(project: Project, *names: str) -> list[int]:
    return [len(list((project.warehouse / name).glob("*.parquet"))) for name in names]


def test_nothing_that_is_young_goes_without_being_named(made: Project) -> None:
    make(made, "young")
    refused = vacuum(made, "young", check=False, retention_hours=1)
    assert "has retention_hours 1, less than 7 days (the table's retention)" in refused.output
    assert (tables.version(made, "young"), files(made, "young")) == (1, [3])

    before = properties(made, "young")
    young = {"relation": f"{made.schema}.young"}
    done = operations(
        made,
        ("vacuum", young),
        ("vacuum", {**young, "retention_hours": 0, "dry_run": True}),
        ("vacuum", {**young, "retention_hours": 0}),
        vars=short(made, "young"),
    ).output
    kept, done = done.split("more than 0 hours ago (dry run): 1 file")
    assert "more than 7 days ago: 0 files of" in kept
    assert "more than 0 hours ago: 2 files of" in done
    assert files(made, "young") == [1]
    assert properties(made, "young") == before
    assert [row["id"] for row in made.rows("young")] == list(range(20, 40))


def test_a_longer_undo_window_is_kept(made: Project) -> None:
    make(made, "undone")
    expire(made, "undone", **{"delta.logRetentionDuration": "interval 1 day"})
    before = properties(made, "undone")
    made.sql("insert into {schema}.undone values (99, 'y')")
    undone = {"relation": f"{made.schema}.undone"}
    refused = operations(
        made,
        ("vacuum", undone),
        ("vacuum", {**undone, "retention_hours": 50}),
        vars={"dbt_delta_undo_days": 3},
        check=False,
    )
    said = "has retention_hours 50, less than 3 days (dbt_delta_undo_days)"
    assert said in refused.output
    assert properties(made, "undone") == before
    (start,) = [c for c in tables.commits(made, "undone") if c["operation"] == "VACUUM START"]
    assert start["operationParameters"]["defaultRetentionMillis"] == 3 * 86_400_000
    assert files(made, "undone") == [4]
    vacuum(made, "undone", vars={"dbt_delta_undo_days": 0})
    assert files(made, "undone") == [2]


def test_a_killed_vacuum_leaves_a_retention_that_the_next_puts_back(made: Project) -> None:
    make(made, "killed")
    before = properties(made, "killed")
    lent = json.dumps({RETENTION: None, "delta.logRetentionDuration": None})
    expire(made, "killed", **{"dbt_delta.retention": lent})
    operation(made, "maintain", select="killed")
    assert properties(made, "killed") == before
    assert files(made, "killed") == [3]


def test_what_a_clone_has_or_a_reader_has_pinned_stays(made: Project) -> None:
    for name in READ:
        make(made, name)
    made.sql("create table {schema}.clone shallow clone {schema}.cloned version as of 0")
    made.sql("create view {schema}.pinned as select * from {schema}.read_version version as of 0")
    at = made.history("read_time")[-1]["timestamp"]
    made.sql(
        "create view {schema}.pinned_time as select * from {schema}.read_time "
        f"timestamp as of '{at}'"
    )
    set_properties(made, "read_by", **{"dbt_delta.pin.report": "0"})
    rows = made.rows("clone")
    for name in READ:
        expire(made, name)
    time.sleep(1)
    none = {"dbt_delta_undo_days": 0, **short(made, *READ)}
    refused = vacuum(made, "cloned", check=False, retention_hours=0, vars=none)
    assert f"its shallow clone {made.schema}.clone has files of it" in refused.output
    select = " ".join(READ)
    done = operations(
        made,
        ("maintenance_plan", {"select": select, "output": "json"}),
        *[("vacuum", {"relation": f"{made.schema}.{name}"}) for name in READ],
        ("maintain", {"select": select}),
        vars=none,
    )
    planned = json.loads(done.printed.splitlines()[0])
    assert {line["table"].partition(".")[2]: line["retention_why"] for line in planned} == {
        "read_version": f"view {made.schema}.pinned reads version 0",
        "read_time": f"view {made.schema}.pinned_time reads it as of {at}",
        "read_by": "report reads version 0",
        "cloned": f"its shallow clone {made.schema}.clone has files of it",
    }
    assert files(made, *READ) == [3, 3, 3, 3]
    assert made.rows("clone") == rows
    for statement in (
        "drop table {schema}.clone",
        "drop view {schema}.pinned",
        "drop view {schema}.pinned_time",
        "alter table {schema}.read_by unset tblproperties ('dbt_delta.pin.report')",
    ):
        made.sql(statement)
    vacuum(made, *READ, vars=none)
    assert files(made, *READ) == [1, 1, 1, 1]


def test_versions_that_left_a_checkpoint_are_not_taken_for_old(made: Project) -> None:
    make(made, "forgotten")
    expire(made, "forgotten", **{"delta.checkpointInterval": "1"})
    time.sleep(1)
    for n in range(2):
        made.sql(f"insert into {{schema}}.forgotten values ({n}, 'y')")
    made.sql(f"alter table {{schema}}.forgotten unset tblproperties ('{RETENTION}')")
    count = files(made, "forgotten")
    refused = vacuum(made, "forgotten", check=False)
    assert "1 file of versions younger than 7 days left its checkpoints" in refused.output
    assert files(made, "forgotten") == count
    assert len(made.sql("select * from {schema}.forgotten version as of 0")) == 40


def test_lite_takes_what_the_log_names_and_full_the_rest(made: Project) -> None:
    make(made, "strayed")
    folder = made.warehouse / "strayed"
    stray = folder / "stray.parquet"
    shutil.copy(next(folder.glob("*.parquet")), stray)
    expire(made, "strayed")
    time.sleep(1)
    none = {"dbt_delta_undo_days": 0}
    vacuum(made, "strayed", mode="lite", vars=none)
    assert (files(made, "strayed"), stray.exists()) == ([3], True)
    vacuum(made, "strayed", vars=none)
    assert (files(made, "strayed"), stray.exists()) == ([1], False)
