"""Tables that others create, change and write to, also while dbt runs.

Run it with --target iceberg.
"""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.spark.connections import SparkConnectionManager

from tests.functional.harness import Project

# A statement that reads such a row takes three seconds.
SLOW = "reflect('java.lang.Thread', 'sleep', {{ 3000 if var('slow', false) else 1 }}L) is not null"
# The same for a MERGE that copies rows, which refuses what may give another result each time.
COUNTING = (
    "(select max(xxhash64(id)) from range({{ 30000000 if var('slow', false) else 1 }})) is not null"
)
LANDED = (
    "select * from ({{ dbt_delta.landed_csv('shop', columns={'id': 'int'}) }}) where " + COUNTING
)
MODELS = {
    "hourly": (
        "materialized='incremental', incremental_strategy='insert_overwrite', "
        "partition_by=['hours(ts)', 'p']",
        "select {{ var('id') }} id, timestamp'2024-01-01 01:00' as ts, cast(null as string) as p",
    ),
    "replaced": ("materialized='table'", "select {{ var('id') }} as id, 'us' as p"),
    "overwritten": (
        "materialized='incremental', incremental_strategy='insert_overwrite'",
        "select {{ var('id') }} as id, 'us' as p",
    ),
    "overwritten_parts": (
        "materialized='incremental', incremental_strategy='insert_overwrite', partition_by='p'",
        "select {{ var('id') }} as id, 'us' as p",
    ),
    "keyed": (
        "materialized='incremental', unique_key='id', stage='view'",
        "select {{ var('id') }} as id, 'us' as p where " + SLOW,
    ),
    "landed": (
        "materialized='incremental', incremental_strategy='append', stage=var('stage', 'view')",
        LANDED,
    ),
    "landed_too": ("materialized='table'", LANDED),
    "judged": (
        "materialized='incremental', unique_key='id', expectations=[{'name': 'good', "
        "'expression': 'id < 0', 'action': 'quarantine'}]",
        "select {{ var('id') }} as id, 'us' as p",
    ),
}


@pytest.fixture(scope="module")
def project(new_shared_project: Callable[[str], Project]) -> Project:
    made = new_shared_project("others")
    made.write(
        {
            f"models/{name}.sql": f"{{{{ config({config}) }}}}\n{sql}\n"
            for name, (config, sql) in MODELS.items()
        }
    )
    made.sql("create schema {schema}")
    return made


@contextmanager
def beside(monkeypatch: pytest.MonkeyPatch, text: str, other: Callable[[], Any]) -> Generator[None]:
    """Calls ``other`` before dbt sends the first statement with a text."""
    stock, others = SparkConnectionManager.execute, [other]

    def execute(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        if text in sql and others:
            others.pop()()
        return stock(self, sql, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(SparkConnectionManager, "execute", execute)
        yield
    assert not others


def test_partitions_of_other_times_are_replaced_by_row(project: Project) -> None:
    """The table was divided by days once: those files have rows of the partition, and others."""
    project.sql(
        "create table {schema}.hourly using iceberg partitioned by (days(ts)) as "
        "select * from values "
        "(1, timestamp'2024-01-01 01:30:00', null), (2, timestamp'2024-01-01 02:00:00', null), "
        "(3, timestamp'2024-01-01 01:30:00', 'b') as t(id, ts, p)"
    )
    project.sql("alter table {schema}.hourly replace partition field days(ts) with hours(ts)")
    project.sql("alter table {schema}.hourly add partition field p")
    for number in (5, 6):
        project.dbt("run", "-s", "hourly", vars={"id": number})
        assert [row["id"] for row in project.rows("hourly")] == [2, 3, number]
    # Once the files follow the partitions of today, Iceberg replaces them.
    rewritten = [s["operationMetrics"]["deleted-records"] for s in project.snapshots("hourly")[:2]]
    assert rewritten == ["1", "3"]


@pytest.mark.parametrize("name", ["replaced", "overwritten", "overwritten_parts"])
def test_first_rows_of_another_writer_are_not_overwritten(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """They come into a table without any snapshot, after the run has looked at it."""
    parts = " partitioned by (p)" if name.endswith("_parts") else ""
    project.sql(f"create table {{schema}}.{name} (id int, p string) using iceberg{parts}")
    insert = f"insert into {{schema}}.{name} values (7, 'us')"
    with beside(monkeypatch, " with (", lambda: project.sql(insert)):
        failed = project.dbt("run", "-s", name, vars={"id": 1}, check=False)
    assert "Found conflicting files" in str(failed.result(name).message)
    assert [row["id"] for row in project.rows(name)] == [7]
    project.dbt("run", "-s", name, vars={"id": 1})
    assert [row["id"] for row in project.rows(name)] == [1]


def test_rows_of_a_quarantine_are_not_overwritten(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run puts one there after this one has looked."""
    project.dbt("run", "-s", "judged", vars={"id": 1})
    insert = (
        "insert into {schema}.judged__quarantine by name "
        "select 7 as id, 'them' as p, array('good') as _expectations"
    )
    with beside(monkeypatch, "replace where true", lambda: project.sql(insert)):
        failed = project.dbt("run", "-s", "judged", vars={"id": 2}, check=False)
    assert "Found conflicting files" in str(failed.result("judged").message)
    project.dbt("run", "-s", "judged", vars={"id": 2})
    assert sorted(row["id"] for row in project.rows("judged__quarantine")) == [1, 2, 7]


def test_a_file_that_two_runs_land_at_once_is_there_once(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other run commits it after this one has read which files the table has."""
    landing, folder = {"dbt_delta_landing": str(tmp_path)}, tmp_path / "shop"
    folder.mkdir()
    (folder / "a.csv").write_text("id\n1\n")
    project.dbt("run", "-s", "landed", vars=landing)
    (folder / "b.csv").write_text("id\n2\n2\n")
    project.dbt("run", "-s", "landed_too", vars=landing)

    def insert() -> None:
        time.sleep(1)
        rows = "select * from {schema}.landed_too where id = 2"
        project.sql(f"insert into {{schema}}.landed by name {rows}")

    other = threading.Thread(target=insert)
    with beside(monkeypatch, f"into `{project.schema}`.`landed` ", other.start):
        run = project.dbt("run", "-s", "landed", vars={**landing, "slow": True}, check=False)
    other.join()
    # What a view selects may lack the file by then: the run fails.
    fails = "changed during the write. Nothing was written"
    assert "another writer was faster" in run.log or fails in str(run.result("landed").message)
    assert sorted(row["id"] for row in project.rows("landed")) == [1, 2, 2]
    (folder / "c.csv").write_text("id\n3\n3\n")
    for _ in range(2):
        project.dbt("run", "-s", "landed", vars={**landing, "stage": "auto"})
    assert sorted(row["id"] for row in project.rows("landed")) == [1, 2, 2, 3, 3]


def test_a_merge_that_another_writer_outran_runs_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.dbt("run", "-s", "keyed", vars={"id": 1})

    def insert() -> None:
        time.sleep(1)
        project.sql("insert into {schema}.keyed values (2, 'theirs'), (3, 'theirs')")

    other = threading.Thread(target=insert)
    with beside(monkeypatch, "merge into", other.start):
        run = project.dbt("run", "-s", "keyed", vars={"id": 2, "slow": True})
    other.join()
    assert "another writer was faster ValidationException: Found conflicting" in run.log
    found = {row["id"]: row["p"] for row in project.rows("keyed")}
    assert found == {1: "us", 2: "us", 3: "theirs"}
    assert len(project.rows("keyed")) == 3
