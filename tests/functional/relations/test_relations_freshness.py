"""Freshness of sources that name no column: their logs say when their rows last changed."""

import datetime as dt

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
    now = dt.datetime.now(dt.UTC)
    for _, moment in after.values():
        assert dt.timedelta() < now - moment < dt.timedelta(minutes=10)


@pytest.mark.parametrize(
    ("name", "statement", "message"),
    [
        ("gone", "", "gone: the catalog does not have it"),
        ("files", "create table {schema}.files using csv as select 1 as id", "files: it is no"),
        ("seen", "create view {schema}.seen as select 1 as id", "seen: it is no Delta table"),
    ],
)
def test_what_has_no_log_is_named(
    project: Project, name: str, statement: str, message: str
) -> None:
    project.write(
        {
            "models/sources.yml": FILES["models/sources.yml"].replace(
                f"- {{name: {name}, config: {{freshness: null}}}}", f"- name: {name}"
            )
        }
    )
    project.sql("create schema if not exists {schema}")
    for table in ("orders", "url_token"):
        project.sql("create table {schema}." + table + " using delta as select 1 as id")
    if statement:
        project.sql(statement)
    run = project.dbt("source", "freshness", check=False)
    assert not run.success
    assert message in run.output
    assert {result.node.name: str(result.status) for result in run.results} == {
        "orders": "pass",
        "url_token": "pass",
        name: "runtime error",
    }


def _freshness(project: Project) -> dict[str, tuple[str, dt.datetime]]:
    results = project.dbt("source", "freshness").results
    return {one.node.name: (str(one.status), one.max_loaded_at) for one in results}
