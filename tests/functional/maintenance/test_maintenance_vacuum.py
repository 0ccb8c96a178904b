"""VACUUM takes no version that somebody needs, and leaves a table's retention as it was."""

import json
import re
import shutil
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.drawing import IS_LONG
from tests.functional.harness import Invocation, Project, is_session, session
from tests.functional.maintenance.running import operation, operations
from tests.unit.macros import rendering

RETENTION = "delta.deletedFileRetentionDuration"
OLD = "select * from {schema}.{name} version as of 0"
# By table: who reads its version 0, of which VACUUM would take a file, and what makes each reader.
READERS: dict[str, dict[str, str]] = {
    "read_version": {
        "{other}.lines": "create view {other}.lines as\n-- of a model\n{old}  -- the first",
        "{schema}.of_a_view": "create view {schema}.of_a_view as select * from {other}.lines",
    },
    "read_time": {
        "{schema}.at": "create view {schema}.at as select * from {schema}.{name}\n"
        "timestamp /* not version as of 1 */ as of timestamp'{time}' x",
    },
    "read_path": {
        "{schema}.path": "create view {schema}.path as select * from delta.`{path}@v0`",
    },
    "read_options": {
        "{schema}.options": "create view {schema}.options as\n"
        "select * from {schema}.`{name}` with ('version' 'AsOf' = '0')",
    },
    "read_by": {},
    "cloned": {
        "{schema}.clone": "create table {schema}.clone shallow clone {schema}.{name} "
        "version as of 0",
        "{other}.again": "create table {other}.again shallow clone {schema}.clone",
    },
    # The clone has left the file. A young version of its own still needs it.
    "left": {
        "{other}.leaver version as of 0": "create table {other}.leaver shallow clone "
        "delta.`{path}` version as of 0; delete from {other}.leaver where id < 20",
    },
    # The data file stays in the table, its older deletion vector does not.
    "vectored": {
        "{other}.hides": "create table {other}.hides shallow clone delta.`{path}`",
        "{other}.hides_too": "create table {other}.hides_too shallow clone {other}.hides; "
        "delete from {other}.hides_too where id = 39",
    },
}
if not IS_LONG:
    READERS = {name: READERS[name] for name in ("read_version", "read_by", "cloned", "left")}
# Two clones have the same files: the second may be named in the place of the first.
CLONED = {"_other.again": ".clone", "_other.hides_too": "_other.hides"}
NAMES = ("young", "undone", "killed", "unread", *READERS, "forgotten", "strayed")
UNBLOCKED = "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"


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


@pytest.mark.long
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


@pytest.fixture
def read(made: Project) -> dict[str, list[str]]:
    """The tables of READERS, with all their readers by table."""
    other = f"{made.schema}_other"
    made.sql(f"create schema {other}")
    found: dict[str, list[str]] = {}
    for name, readers in READERS.items():
        make(made, name)
        if name == "vectored":
            set_properties(made, name, **{"delta.enableDeletionVectors": "true"})
            made.sql("delete from {schema}.vectored where id = 30")
        names = {
            "schema": made.schema, "other": other, "name": name, "path": made.warehouse / name,
            "old": OLD.format(schema=made.schema, name=name),
            "time": made.history(name)[-1]["timestamp"],
        }  # fmt: skip
        for reader, statements in readers.items():
            for statement in statements.format(**names).split("; "):
                made.sql(statement)
            found.setdefault(name, []).append(reader.format(**names))
    set_properties(made, "read_by", **{"dbt_delta.pin.report": "0"})
    found["read_by"] = [f"{made.schema}.read_by version as of 0"]
    if "vectored" in READERS:
        made.sql("delete from {schema}.vectored where id = 31")
    return found


def test_what_somebody_reads_stays(made: Project, read: dict[str, list[str]]) -> None:
    """Views and clones of every kind read the same rows after VACUUM as before."""
    make(made, "unread")
    names = ("unread", *read)
    for name in names:
        expire(made, name)
    made.sql(
        "comment on table {schema}.cloned is 'its\nLocation: nowhere\nType: VIEW\nProvider: csv'"
    )
    rows = _rows(made, read)
    kept = [path for name in read for path in (made.warehouse / name).iterdir() if path.is_file()]
    assert len(rows) == (11 if IS_LONG else 6)
    assert {len(found) for found in rows.values()} == ({40, 19, 18} if IS_LONG else {40})
    none = {
        "dbt_delta_undo_days": 0,
        "dbt_delta_clone_schemas": [f"{made.schema}_other"],
        **short(made, *names),
    }
    refused = vacuum(made, "cloned", check=False, retention_hours=0, vars=none)
    assert "reads its files. Keep at least 1" in refused.output
    select = " ".join(names)
    done = operations(
        made,
        ("maintenance_plan", {"select": select, "output": "json"}),
        *[("vacuum", {"relation": f"{made.schema}.{name}"}) for name in names],
        ("maintain", {"select": select}),
        vars=none,
    )
    other = f"{made.schema}_other"
    why = {
        "unread": "the table's retention",
        "read_version": f"view {other}.lines reads version 0",
        "read_path": f"view {made.schema}.path reads version 0",
        "read_options": f"view {made.schema}.options reads version 0",
        "read_by": "report reads version 0",
        "cloned": f"its shallow clone {made.schema}.clone reads its files",
        "left": f"its shallow clone {other}.leaver reads its files",
        "vectored": f"its shallow clone {other}.hides reads its files",
    }
    if "read_time" in read:
        at = made.history("read_time")[-1]["timestamp"]
        why["read_time"] = f"view {made.schema}.at reads it as of timestamp'{at}'"
    assert _why(done) == {name: why[name] for name in names}
    # The session tells of all views at once.
    asked = [sql for sql in done.statements if re.match("show table ext|describe ext", sql)]
    assert not asked or not is_session()
    assert _rows(made, read) == rows
    # maintain has written one more: without the rows that a deletion vector hides.
    assert not [path for path in kept if path.suffix in (".parquet", ".bin") and not path.exists()]
    assert files(made, "unread") == [1]
    # What nobody reads any more goes.
    made.sql(f"drop table {other}.leaver")
    made.sql("drop view if exists {schema}.path")
    left = [name for name in ("left", "read_path") if name in read]
    vacuum(made, *left, vars=none)
    assert files(made, *left) == [1] * len(left)


def _why(planned: Invocation) -> dict[str, str]:
    """Why the files of each table are kept as long as they are; of two clones, the first."""
    lines = json.loads(planned.printed.splitlines()[0])
    why = {line["table"].partition(".")[2]: line["retention_why"] for line in lines}
    return {
        name: re.sub("|".join(CLONED), lambda at: CLONED[at.group()], text)
        for name, text in why.items()
    }


def _rows(project: Project, readers: dict[str, list[str]]) -> dict[str, list[Any]]:
    """Sorted rows of each reader; Delta refuses versions older than the retention otherwise."""
    try:
        session().conf.set(UNBLOCKED, "false")
        return {
            reader: sorted(tuple(row) for row in project.sql(f"select * from {reader}"))
            for found in readers.values()
            for reader in found
        }
    finally:
        session().conf.unset(UNBLOCKED)


def test_without_the_plugin_a_missing_path_is_told_from_other_errors(made: Project) -> None:
    """No log is no reader; one that cannot be read may be a clone's."""
    attempt = rendering.load().get_attempt_sql
    found = {
        name: made.sql(attempt(f"select 1 as one from {name}"))[0].asDict()
        for name in ("text.`/nowhere/*.json`", "nothing_of_that_name", "range(1)")
    }
    assert [list(row.values()) for row in found.values()] == [
        ["PATH_NOT_FOUND"], ["Spark failed; see its log"], [1],
    ]  # fmt: skip


def test_versions_that_left_a_checkpoint_are_not_taken_for_old(made: Project) -> None:
    make(made, "forgotten")
    expire(made, "forgotten", **{"delta.checkpointInterval": "1"})
    time.sleep(1)
    for n in range(2):
        made.sql(f"insert into {{schema}}.forgotten values ({n}, 'y')")
    made.sql(f"alter table {{schema}}.forgotten unset tblproperties ('{RETENTION}')")
    count = files(made, "forgotten")
    refused = vacuum(made, "forgotten", check=False)
    assert "1 file of versions younger than 7 days are missing in its checkpoints" in refused.output
    assert files(made, "forgotten") == count
    assert len(made.sql("select * from {schema}.forgotten version as of 0")) == 40


@pytest.mark.long
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
