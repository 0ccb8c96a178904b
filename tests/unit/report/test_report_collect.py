"""The document that the page draws."""

from typing import Any

from dbt_delta.report import collect

NODE = {
    "id": "model.shop.orders",
    "name": "orders",
    "kind": "model",
    "table": "shop.orders",
    "path": "models/orders.sql",
    "what": "incremental",
    "parents": ["source.shop.raw.orders"],
    "limits": None,
}
SOURCE = {**NODE, "id": "source.shop.raw.orders", "name": "raw.orders", "kind": "source"}
SOURCE |= {"parents": [], "what": None, "limits": {"warn": 24.0}}
TEST = {**NODE, "id": "test.shop.unique", "name": "unique", "kind": "test", "table": None}
TEST |= {"parents": ["model.shop.orders"]}
DAY = 86400
MADE = 100 * DAY


def run(number: int, *nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    started = float(MADE - (10 - number) * DAY)
    about = {"id": f"run{number}", "command": "build", "started": started, "ended": started + 60}
    return {**about, "nodes": list(nodes), "other": {}, **more}


def ran(status: str = "success", id: str = NODE["id"], **more: Any) -> dict[str, Any]:
    return {"id": id, "status": status, "seconds": 10.0, "at": 1.0, **more}


def commit(number: int, **more: Any) -> dict[str, Any]:
    at = (MADE - (10 - number) * DAY + 5) * 1000
    about = {"version": number, "at": at, "operation": "WRITE", "run": f"run{number}"}
    about |= {"moves_rows": True, "is_whole": False, "inserted": 5, "updated": None, "deleted": 0}
    return {**about, **more}


def table(**more: Any) -> dict[str, Any]:
    about = {"node": NODE["id"], "files": 2, "rows": 30, "deleted_rows": 1, "bytes": 900}
    return {**about, "problem": None, "steps": [], "versions": 4, "dead_bytes": 3, **more}


def made(
    runs: list[dict[str, Any]],
    commits: list[dict[str, Any]] | None = None,
    tables: list[dict[str, Any]] | None = None,
    **facts: Any,
) -> dict[str, Any]:
    about = {"project": "shop", "target": "dev", "made": MADE, "since": 0, "selection": None}
    known = {"tables": tables or [], "commits": {NODE["id"]: commits or []}, "expectations": {}}
    known |= {"publish": None, "problems": [], **facts}
    return collect.document({**about, "problems": []}, [NODE, SOURCE, TEST], known, runs, [])


def test_what_is_not_known_is_none_or_missing() -> None:
    found = made([run(1, ran())])
    node = found["nodes"][0]
    assert node["runs"]["seconds"] == [10.0]
    assert "cpu" not in node["runs"]
    assert "inserted" not in node["runs"]
    assert node["store"] is None
    assert node["fresh"] is None
    assert found["runs"][0]["cost"] is None


def test_costs_and_rows_stand_beside_the_run_that_made_them() -> None:
    cost = {"cpu": 1.5, "read": 10, "written": 20, "shuffled": 0, "spilled": 0}
    found = made(
        [run(1, ran(cost=cost), other=cost), run(2, ran("skipped"))],
        [commit(2, run=None), commit(1)],
    )
    columns = found["nodes"][0]["runs"]
    assert columns["cpu"] == [1.5, None]
    assert columns["inserted"] == [5, None]
    assert columns["status"] == "pk"
    assert columns["seconds"] == [10.0, None]
    assert found["runs"][0]["cost"] == {"cpu": 3.0, "read": 20, "written": 40}


def test_a_run_that_only_commits_know_has_no_result() -> None:
    found = made([run(2, ran())], [commit(2), commit(1)])
    assert [one["status"] for one in found["runs"]] == [None, "ok"]
    assert found["runs"][0]["seconds"] is None
    assert found["nodes"][0]["runs"]["status"] == "?p"


def test_rows_over_time_end_with_those_of_the_newest_version() -> None:
    found = made([], [commit(2), commit(1)], [table()])
    assert found["nodes"][0]["rows"]["rows"] == [24, 29]
    assert found["nodes"][0]["store"]["rows"] == 29
    unknown = made([], [], [table(rows=0)])["nodes"][0]
    assert unknown["store"]["rows"] is None


def test_an_unreadable_log_is_a_problem_and_no_empty_table() -> None:
    broken = {"node": NODE["id"], "problem": "its log cannot be read", "steps": []}
    found = made([], [], [broken])
    assert found["nodes"][0]["store"] is None
    assert "orders: its log cannot be read" in [one["text"] for one in found["attention"]]


def test_a_table_is_late_after_three_usual_gaps() -> None:
    nightly = [commit(number) for number in (9, 8, 7, 6)]
    assert made([], nightly)["nodes"][0]["fresh"]["state"] == "fresh"
    old = [commit(number) for number in (6, 5, 4, 3)]
    late = made([], old)
    assert late["nodes"][0]["fresh"]["state"] == "late"
    assert "orders is late" in [one["text"] for one in late["attention"]]
    assert made([], [commit(1)])["nodes"][0]["fresh"]["state"] is None


def test_a_source_is_late_after_its_own_limit() -> None:
    found = made([run(9, ran("pass", SOURCE["id"], age=3600.0))])["nodes"][1]["fresh"]
    assert found["limit"] == DAY
    assert found["state"] == "late"  # a day and an hour ago


def test_tests_over_time() -> None:
    def after(*statuses: str) -> dict[str, Any]:
        runs = [run(n, ran(s, TEST["id"], failures=n)) for n, s in enumerate(statuses)]
        return made(runs)["tests"][0]

    assert after("pass", "fail")["state"] == "failing"
    assert after("pass", "fail")["failures"] == 1
    assert after("fail", "pass")["state"] == "ok"
    assert after("fail", "pass", "fail", "pass")["state"] == "flaky"
    assert after("pass", "warn")["state"] == "warning"
    assert after("unchanged", "skipped")["state"] is None
    assert after("pass", "fail")["of"] == [0]


def test_attention_names_failures_outliers_and_what_is_open() -> None:
    slow = [run(n, ran(seconds=200.0 if n == 8 else 10.0)) for n in range(1, 9)]
    held = [{"view": "p.orders", "held back by": "unique"}]
    found = made(slow, publish=held, problems=["x: a version is missing"])
    assert [one["text"] for one in found["attention"]] == [
        "orders took 3 min, usually 10.0 s",
        "p.orders is held back by unique",
        "x: a version is missing",
    ]
    failed = made([run(1, ran("error"))])
    assert failed["attention"][0] == {
        "level": "error",
        "text": "orders failed in its last run",
        "node": 0,
    }


def test_expectations_are_columns_over_runs() -> None:
    def line(at: int, broken: int) -> dict[str, Any]:
        numbers = {"broken": broken, "rows": 9, "quarantined": broken, "dropped": 0}
        return {"at": at, "expectation": "positive", "action": "quarantine", **numbers}

    found = made([], expectations={NODE["id"]: [line(2, 4), line(1, 0)]})["expectations"]
    assert len(found) == 1
    assert (found[0]["at"], found[0]["broken"], found[0]["node"]) == ([1, 2], [0, 4], 0)
