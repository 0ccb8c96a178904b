"""The small files in which runs are kept."""

import datetime as dt
import json
import time
from types import SimpleNamespace
from typing import Any

from dbt_delta.report import runs
from dbt_delta.session import cost

NOW = time.time()
ABOUT = {"id": "1234-56", "command": "build", "target": "dev", "started": NOW, "ended": NOW + 9}
FIGURES = {"cpu": 1.2345, "read": 10, "written": 5, "shuffled": 0, "spilled": 0}


def result(id: str, status: str = "success", **more: Any) -> Any:
    begun = dt.datetime.fromtimestamp(NOW + 2, dt.timezone.utc).replace(tzinfo=None)
    timing = [SimpleNamespace(name="execute", started_at=begun)]
    about = {"node": SimpleNamespace(unique_id=id), "status": status, "timing": timing}
    return SimpleNamespace(**{**about, "execution_time": 3.0, "message": "OK", **more})


def test_a_run_has_what_its_nodes_did_and_cost() -> None:
    found = runs.record(
        ABOUT, [result("a"), result("b", failures=2)], {"a": FIGURES, "on-run-end": FIGURES}
    )
    first, second = found["nodes"]
    assert first["cost"] == {**FIGURES, "cpu": 1.234}
    assert (first["at"], first["seconds"], first["status"]) == (2.0, 3.0, "success")
    assert second["cost"]["cpu"] == 0  # it had no job of Spark
    assert second["failures"] == 2
    assert found["other"]["read"] == 10


def test_without_spark_a_cost_is_unknown() -> None:
    assert "cost" not in runs.record(ABOUT, [result("a")], None)["nodes"][0]


def test_what_was_left_out_did_not_run() -> None:
    left_out = result("a", execution_time=0, message="unchanged", timing=[])
    node = runs.record(ABOUT, [left_out], {})["nodes"][0]
    assert node == {"id": "a", "status": "unchanged", "seconds": 0}


def test_no_message_is_kept() -> None:
    found = runs.record(ABOUT, [result("a", "error", message="value 'Jane' is bad")], {})
    assert "Jane" not in json.dumps(found)


def test_runs_come_back_oldest_first_and_damaged_ones_are_named(tmp_path) -> None:
    for number in (2, 1):
        started = NOW - 100 * number
        runs.write(tmp_path, {**ABOUT, "format": 1, "id": f"{number}", "started": started})
    old = {**ABOUT, "format": 1, "id": "old", "started": NOW - 10 * 86400}
    runs.write(tmp_path, old)
    (tmp_path / "x.json").write_text("{")
    found, problems = runs.read(tmp_path, tmp_path / "none.json", NOW - 86400)
    assert [run["id"] for run in found] == ["2", "1"]
    assert problems == ["runs/x.json is damaged: the page is without this run"]


def test_old_runs_are_removed(tmp_path) -> None:
    ancient = NOW - 500 * 86400
    runs.write(tmp_path, {**ABOUT, "format": 1, "id": "ancient", "started": ancient})
    runs.write(tmp_path, {**ABOUT, "format": 1})
    assert [path.name[-13:] for path in tmp_path.iterdir()] == ["_1234-56.json"]


def test_run_results_count_where_the_run_was_not_kept(tmp_path) -> None:
    stamp = dt.datetime.fromtimestamp(NOW, dt.timezone.utc).isoformat()
    timing = [{"name": "execute", "started_at": stamp, "completed_at": stamp}]
    artifact = {
        "metadata": {"invocation_id": "9", "generated_at": stamp, "invocation_started_at": stamp},
        "args": {"which": "test", "target": "dev"},
        "elapsed_time": 5.0,
        "results": [
            {
                "unique_id": "t",
                "status": "fail",
                "failures": 3,
                "execution_time": 1,
                "timing": timing,
            }
        ],
    }
    path = tmp_path / "run_results.json"
    path.write_text(json.dumps(artifact))
    found, problems = runs.read(tmp_path / "runs", path, NOW - 60)
    assert not problems
    assert [(run["id"], run["command"]) for run in found] == [("9", "test")]
    assert found[0]["nodes"][0]["failures"] == 3
    artifact["args"]["which"] = "docs"
    path.write_text(json.dumps(artifact))
    assert runs.read(tmp_path / "runs", path, NOW - 60)[0] == []


def test_figures_belong_to_the_job_that_ran_the_stage() -> None:
    stage = {"cpu": 10**9, "read": 5, "written": 1, "shuffled": 0, "spilled": 0}
    jobs = {
        1: ("model.p.a RUN 7", [1, 2]),
        2: ("model.p.b RUN 8", [2, 3]),
        3: ("model.p.c OTHER 9", [4]),
        4: ("", [5]),
    }
    stages = {(number, 0): stage for number in range(1, 6)} | {(3, 1): stage}
    found = cost.summed("RUN", jobs, stages)
    assert found.keys() == {"model.p.a", "model.p.b"}
    assert found["model.p.a"] == {**stage, "cpu": 2.0, "read": 10, "written": 2}
    assert found["model.p.b"]["cpu"] == 2.0  # a stage that failed counts each time
