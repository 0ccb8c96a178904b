"""Freshness of sources that name no column: their logs say when their rows last changed."""

import datetime as dt
import os

import pytest

from tests.functional.harness import Project

FILES = {
    "models/sources.yml": """
        sources:
          - name: raw
            schema: "{{ target.schema }}"
            freshness:
              warn_after: {count: 10, period: hour}
              error_after: {count: 1, period: day}
            tables:
              - name: orders
              - name: url_token
              - {name: files, config: {freshness: null}}
              - {name: gone, config: {freshness: null}}
              - {name: seen, config: {freshness: null}}
              - {name: cut, config: {freshness: null}}
              - {name: aged, config: {freshness: null}}
        """
}


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_the_log_says_when_rows_changed(project: Project, zone: str) -> None:
    project.set_spark({"spark.sql.session.timeZone": zone})
    project.write(FILES)
    project.sql("create schema if not exists {schema}")
    project.sql("create table {schema}.orders using delta as select 1 as id")
    project.sql("create table {schema}.url_token using delta as select 1 as id")
    before = _freshness(project)
    assert {status for status, _ in before.values()} == {"pass"}
    project.sql("optimize {schema}.orders")
    project.sql("comment on table {schema}.orders is 'new'")
    project.sql("insert into {schema}.url_token values (2)")
    after = _freshness(project)
    assert after["orders"] == before["orders"]
    assert after["url_token"] > before["url_token"]
    # In the zone there is no such hour: a clock there goes from 2 to 3 then.
    log = project.warehouse / "orders" / "_delta_log" / f"{0:020d}.json"
    missing = dt.datetime(2024, 3, 10, 2, 30, tzinfo=dt.UTC)
    os.utime(log, (missing.timestamp(), missing.timestamp()))
    assert _freshness(project)["orders"] == ("error", missing)
    now = dt.datetime.now(dt.UTC)
    for _, moment in after.values():
        assert dt.timedelta() < now - moment < dt.timedelta(minutes=10)


UNKNOWN = {
    "gone": ("", "gone: the catalog does not have it"),
    "files": ("create table {schema}.files using csv as select 1 as id", "files: it is no"),
    "seen": ("create view {schema}.seen as select 1 as id", "seen: it is no Delta table"),
    "cut": ("create table {schema}.cut using delta as select 1 as id", "cut: its rows have not"),
}


def test_what_no_log_tells_is_named(project: Project) -> None:
    sources = FILES["models/sources.yml"].replace(", config: {freshness: null}", "")
    project.write({"models/sources.yml": sources})
    project.sql("create schema if not exists {schema}")
    for table in ("orders", "url_token", "aged"):
        project.sql("create table {schema}." + table + " using delta as select 1 as id")
    for statement, _ in UNKNOWN.values():
        if statement:
            project.sql(statement)
    # Their logs do not go back to their rows; one of them has not changed for longer than allowed.
    for name in ("cut", "aged"):
        project.sql("alter table {schema}." + name + " set tblproperties ('a' = 'b')")
        (project.warehouse / name / "_delta_log" / f"{0:020d}.json").unlink()
    os.utime(project.warehouse / "aged" / "_delta_log" / f"{1:020d}.json", (86400, 86400))
    run = project.dbt("source", "freshness", check=False)
    assert not run.success
    for _, message in UNKNOWN.values():
        assert message in run.output
    assert {result.node.name: str(result.status) for result in run.results} == {
        "orders": "pass",
        "url_token": "pass",
        "aged": "error",
        **dict.fromkeys(UNKNOWN, "runtime error"),
    }


def _freshness(project: Project) -> dict[str, tuple[str, dt.datetime]]:
    results = project.dbt("source", "freshness", check=False).results
    return {one.node.name: (str(one.status), one.max_loaded_at) for one in results}
