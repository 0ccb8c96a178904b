"""VACUUM takes no version that somebody needs, and leaves a table's retention as it was."""

import json
import shutil
import time
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.harness import Invocation, Project
from tests.functional.maintenance.running import operation

RETENTION = "delta.deletedFileRetentionDuration"


@pytest.fixture
def made(project: Project) -> Project:
    """Table t: version 0 has two files, of which version 1 has taken one away.

    The DELETE has written a third, without rows, that no commit names.
    """
    project.sql("create schema if not exists {schema}")
    project.sql(
        "create table {schema}.t using delta as select id, 'x' as v from range(0, 40, 1, 2)"
    )
    project.sql("delete from {schema}.t where id < 20")
    project.write({"models/t.sql": "{{ config(materialized='table') }} select 1 as id"})
    return project


def vacuum(project: Project, check: bool = True, vars: Any = None, **arguments: Any) -> Invocation:
    return operation(project, "vacuum", check, vars, relation=f"{project.schema}.t", **arguments)


def short(project: Project) -> dict[str, Any]:
    """Variables that allow fewer hours for this table."""
    return {"dbt_delta_short_retention": [f"{project.schema}.t"]}


def properties(project: Project) -> dict[str, str]:
    found = {row.key: row.value for row in project.sql("show tblproperties {schema}.t")}
    return {k: v for k, v in found.items() if not k.startswith(("delta.feature", "delta.min"))}


def files(project: Project) -> int:
    return len([path for path in tables.data_files(project) if path.parent.name == "t"])


def test_nothing_that_is_young_goes_without_being_named(made: Project) -> None:
    vacuum(made)
    assert files(made) == 3
    version = made.version("t")
    refused = vacuum(made, check=False, retention_hours=1)
    assert "has retention_hours 1, less than 7 days (the table's retention)" in refused.output
    refused = vacuum(made, check=False, retention_hours=200, vars={"dbt_delta_undo_days": 10})
    assert "less than 10 days (dbt_delta_undo_days)" in refused.output
    for arguments in ({"retention_hours": "soon"}, {"mode": "best"}, {"retention_hours": -1}):
        assert not vacuum(made, check=False, **arguments).success
    listed = vacuum(made, retention_hours=0, dry_run=True, vars=short(made))
    assert "more than 0 hours ago (dry run): 1 file" in listed.output
    assert (made.version("t"), files(made)) == (version, 3)

    before = properties(made)
    done = vacuum(made, retention_hours=0, vars=short(made))
    assert "2 files of" in done.output
    assert files(made) == 1
    assert properties(made) == before
    assert [row["id"] for row in made.rows("t")] == list(range(20, 40))


def test_a_longer_undo_window_is_kept(made: Project) -> None:
    made.sql(
        f"alter table {{schema}}.t set tblproperties ('{RETENTION}' = 'interval 0 seconds',"
        " 'delta.logRetentionDuration' = 'interval 1 day')"
    )
    before = properties(made)
    made.sql("insert into {schema}.t values (99, 'y')")
    vacuum(made, vars={"dbt_delta_undo_days": 3})
    assert properties(made) == before
    starts = [h for h in made.history("t") if h["operation"] == "VACUUM START"]
    assert starts[0]["operationParameters"]["defaultRetentionMillis"] == str(3 * 86_400_000)
    assert files(made) == 4
    vacuum(made, vars={"dbt_delta_undo_days": 0})
    assert files(made) == 2


def test_a_killed_vacuum_leaves_a_retention_that_the_next_puts_back(made: Project) -> None:
    lent = json.dumps({RETENTION: None, "delta.logRetentionDuration": None})
    made.sql(
        f"alter table {{schema}}.t set tblproperties ('{RETENTION}' = 'interval 0 seconds',"
        f" 'dbt_delta.retention' = '{lent}')"
    )
    operation(made, "maintain")
    assert properties(made) == {}
    assert files(made) == 3


def test_what_a_shallow_clone_has_stays(made: Project) -> None:
    made.sql("create table {schema}.cloned shallow clone {schema}.t version as of 0")
    rows = made.rows("cloned")
    made.sql(f"alter table {{schema}}.t set tblproperties ('{RETENTION}' = 'interval 0 seconds')")
    time.sleep(1)
    none = {"dbt_delta_undo_days": 0, **short(made)}
    refused = vacuum(made, check=False, retention_hours=0, vars=none)
    assert f"its shallow clone {made.schema}.cloned has files of it" in refused.output
    vacuum(made, vars=none)
    operation(made, "maintain", vars=none)
    assert files(made) == 3
    assert made.rows("cloned") == rows
    made.sql("drop table {schema}.cloned")
    vacuum(made, vars=none)
    assert files(made) == 1


@pytest.mark.parametrize("kind", ["version", "time", "property"])
def test_what_a_reader_has_pinned_stays(made: Project, kind: str) -> None:
    at = str(made.history("t")[-1]["timestamp"])
    if kind == "property":
        made.sql("alter table {schema}.t set tblproperties ('dbt_delta.pin.report' = '0')")
    else:
        when = "version as of 0" if kind == "version" else f"timestamp as of '{at}'"
        made.sql(f"create view {{schema}}.pinned as select * from {{schema}}.t {when}")
    made.sql(f"alter table {{schema}}.t set tblproperties ('{RETENTION}' = 'interval 0 seconds')")
    none = {"dbt_delta_undo_days": 0, **short(made)}
    refused = vacuum(made, check=False, retention_hours=0, vars=none)
    assert ("report reads version 0" if kind == "property" else ".pinned reads") in refused.output
    vacuum(made, vars=none)
    assert files(made) == 3
    if kind == "property":
        made.sql("alter table {schema}.t unset tblproperties ('dbt_delta.pin.report')")
    else:
        made.sql("drop view {schema}.pinned")
    vacuum(made, vars=none)
    assert files(made) == 1


def test_versions_that_left_a_checkpoint_are_not_taken_for_old(made: Project) -> None:
    made.sql(
        f"alter table {{schema}}.t set tblproperties ('{RETENTION}' = 'interval 0 seconds',"
        " 'delta.checkpointInterval' = '1')"
    )
    time.sleep(1)
    for n in range(2):
        made.sql(f"insert into {{schema}}.t values ({n}, 'y')")
    made.sql(f"alter table {{schema}}.t unset tblproperties ('{RETENTION}')")
    count = files(made)
    refused = vacuum(made, check=False)
    assert "1 file of versions younger than 7 days left its checkpoints" in refused.output
    assert files(made) == count
    assert len(made.sql("select * from {schema}.t version as of 0")) == 40


def test_lite_takes_what_the_log_names_and_full_the_rest(made: Project) -> None:
    stray = made.warehouse / "t" / "stray.parquet"
    shutil.copy(next(made.warehouse.glob("t/*.parquet")), stray)
    made.sql(f"alter table {{schema}}.t set tblproperties ('{RETENTION}' = 'interval 0 seconds')")
    time.sleep(1)
    none = {"dbt_delta_undo_days": 0}
    vacuum(made, mode="lite", vars=none)
    assert (files(made), stray.exists()) == (3, True)
    vacuum(made, vars=none)
    assert (files(made), stray.exists()) == (1, False)
