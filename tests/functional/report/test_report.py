"""The run operation ``report`` on real tables and real runs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.functional.harness import Project, is_session

MODELS = {
    "models/orders.sql": """
        {{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
        select id, id % 3 as kind from range({{ var('rows', 10) }})
    """,
    "models/kinds.sql": "select kind, count(*) as n from {{ ref('orders') }} group by kind",
    "models/broken.sql": """
        select id from range(1) where assert_true({{ var('good', true) }}, 'Jane Doe') is null
    """,
    "models/schema.yml": """
        models:
          - name: orders
            columns:
              - name: id
                data_tests: [unique]
          - name: kinds
            config: {materialized: table}
            columns:
              - name: n
                data_tests:
                  - accepted_values: {arguments: {values: [3, 4], quote: false}}
          - name: broken
            config: {materialized: table}
    """,
}


@pytest.fixture
def built(project: Project) -> Project:
    project.writes_json = True
    project.write(MODELS)
    project.dbt("build")
    failed = project.dbt("build", vars={"rows": 40, "good": False}, check=False)
    assert not failed.success
    return project


def document(path: Path) -> Any:
    found = re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert found
    return json.loads(found[1])


def test_runs_costs_rows_and_tests(built: Project) -> None:
    page = built.path / "out" / "page.html"
    args = json.dumps({"output": "out/page.html", "days": 1})
    ran = built.dbt("run-operation", "report", "--args", args)
    assert ran.printed.startswith(f"{page}: 2 runs, 3 nodes, ")
    found = document(page)
    assert [(run["command"], run["status"]) for run in found["runs"]] == [
        ("build", "ok"),
        ("build", "error"),
    ]
    nodes = {node["name"]: node for node in found["nodes"]}
    orders = nodes["orders"]
    assert orders["runs"]["inserted"] == [10, 30]
    assert orders["rows"]["rows"] == [10, 40]
    assert (orders["store"]["rows"], orders["store"]["versions"]) == (40, 2)
    assert all(seconds > 0 for seconds in orders["runs"]["seconds"])
    if is_session():
        assert all(cpu > 0 for cpu in orders["runs"]["cpu"])
        assert all(size > 0 for size in orders["runs"]["written"])
        # It reads 10 rows, which the target does not have yet, and then the target's file.
        assert orders["runs"]["read"][1] > orders["runs"]["read"][0]
        assert found["runs"][0]["cost"]["cpu"] >= orders["runs"]["cpu"][0]
    else:
        assert "cpu" not in orders["runs"]
        assert found["runs"][0]["cost"] is None
    assert nodes["broken"]["runs"]["status"] == "pe"
    assert nodes["kinds"]["parents"] == [found["nodes"].index(orders)]
    assert {test["name"].partition("_")[0]: test["state"] for test in found["tests"]} == {
        "unique": "ok",
        "accepted": "failing",
    }
    texts = [one["text"] for one in found["attention"]]
    assert "broken failed in its last run" in texts
    assert "Jane" not in page.read_text()
    assert "Jane" not in "".join(p.read_text() for p in (built.path / "logs" / "runs").iterdir())


@pytest.mark.long
def test_it_asks_few_statements_and_commits_nothing(built: Project) -> None:
    built.write({f"models/more_{i}.sql": "select 1 as id" for i in range(6)})
    built.write({"models/more.yml": "models: []"})
    built.dbt("run", "-s", "more_0", "more_1", "more_2", "more_3", "more_4", "more_5")
    before = built.version("orders")
    few = built.dbt("run-operation", "report", "--args", "{select: orders}")
    all_of_them = built.dbt("run-operation", "report")
    if is_session():
        assert len(all_of_them.statements) == len(few.statements) < 10
    assert built.version("orders") == before
    found = document(built.path / "report.html")
    assert found["selection"] is None
    # Without the kept runs the commits tell of them.
    for path in (built.path / "logs" / "runs").iterdir():
        path.unlink()
    (built.path / "target" / "run_results.json").unlink()
    built.dbt("run-operation", "report", "--args", "{select: orders}")
    told = document(built.path / "report.html")
    assert [node["name"] for node in told["nodes"]] == ["orders"]
    assert [run["status"] for run in told["runs"]] == [None, None]
    assert told["nodes"][0]["runs"]["inserted"] == [10, 30]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("{days: 0}", "report has days '0'. Use a whole number of days from 1 on."),
        ("{days: soon}", "report has days 'soon'."),
        ("{select: nothing_here}", "selects no model, seed or snapshot"),
        ("{output: models/orders.sql/x.html}", "cannot be written"),
    ],
)
def test_what_is_refused(project: Project, arguments: str, problem: str) -> None:
    project.write({"models/orders.sql": "select 1 as id"})
    refused = project.dbt("run-operation", "report", "--args", arguments, check=False)
    assert not refused.success
    assert problem in refused.output
