"""The service that runs streams again and again, as a process beside other commands."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.functional import harness
from tests.functional.harness import Project, wait_until

MODULE = "dbt_delta.stream.service"
FILES = {
    "models/orders.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        select /*+ repartition(3) */ id, id * 10 as v
        from range({{ var('from', 0) }}, {{ var('from', 0) }} + 60)
        """,
    "models/added.sql": """
        {{ config(materialized='stream') }}
        select id, v from {{ dbt_delta.stream(ref('orders'), max_files_per_trigger=1) }}
        """,
    "models/merged.sql": """
        {{ config(materialized='stream', unique_key='id') }}
        select id, v from {{ dbt_delta.stream(ref('orders')) }}
        """,
    "models/counted.sql": """
        select 'added' as name, count(*) as n, count(distinct id) as ids from {{ ref('added') }}
        union all
        select 'merged', count(*), count(distinct id) from {{ ref('merged') }}
        """,
}


class Service:
    """One project's service, and commands beside it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.home = project.path / "home"
        folders = {"DBT_PROJECT_DIR": str(project.path), "DBT_PROFILES_DIR": str(project.path)}
        self.env = {**os.environ, **harness.environment(self.home), **folders}

    def call(self, *arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", MODULE, *arguments],
            env=self.env,
            cwd=self.project.path,
            capture_output=True,
            text=True,
            timeout=400,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    def models(self) -> dict[str, Any]:
        found = json.loads((self.home / "stream" / "status.json").read_text())["models"]
        return {one["model"]: one for one in found}

    def wait(self, rows: int) -> None:
        """Until both models have read so many rows."""
        wait_until(
            lambda: {one["rows"] for one in self.models().values()} == {rows}, 200, f"{rows} rows"
        )

    def dbt(self, *arguments: str) -> str:
        # Commands leave their Spark to the service, and it to them.
        process = self.project.process(*arguments, env={"DBT_DELTA_WARM": "30s"})
        assert process.wait(300) == 0, process.output
        return process.output

    def counts(self) -> list[tuple[str, int, int]]:
        """(name, rows, keys) of each table, read by a command beside the service."""
        sql = "select concat_ws(' ', name, n, ids) as line from {{ ref('counted') }}"
        shown = self.dbt("show", "--quiet", "--inline", sql)
        found = [line.strip("| ").split() for line in shown.splitlines() if "ed " in line]
        return sorted((name, int(n), int(ids)) for name, n, ids in found)


@pytest.fixture
def service(project: Project) -> Generator[Service, None, None]:
    project.write(FILES)
    service = Service(project)
    yield service
    service.call("stop")


@pytest.mark.long
def test_it_follows_its_inputs_and_gives_way_to_other_commands(service: Service) -> None:
    service.dbt("run", "-s", "orders", "counted", "added", "merged")
    assert "it does not run" in service.call("status", code=1)
    assert "runs 2 models" in service.call("start", "--every", "1s")
    assert "it runs already" in service.call("start", code=2)
    wait_until(
        lambda: all(one["complete"] for one in service.models().values()), 200, "the first turn"
    )
    pid = json.loads((service.home / "stream" / "status.json").read_text())["pid"]
    for step in (1, 2):
        output = service.dbt("run", "-s", "orders", "--vars", f"from: {60 * step}")
        assert "which gives way after its present batches" in output
        service.wait(60 * step)
    assert service.counts() == [("added", 180, 180), ("merged", 180, 180)]
    wait_until(lambda: "for the home" not in service.call("status"), 100, "the home")
    shown = service.call("status")
    assert f"process {pid} since" in shown
    assert "lag" in shown
    batches = {name: one["batches"] for name, one in service.models().items()}
    assert batches == {"added": 6, "merged": 2}
    assert "stopped" in service.call("stop")
    assert "stopped" not in service.call("stop")
    log = (service.home / "logs" / "stream.log").read_text()
    assert log.count("added: 3 batches, 60 rows") == 2


@pytest.mark.long
def test_files_become_rows_of_a_stream(service: Service) -> None:
    landed = """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        {{ dbt_delta.landed_csv('shop/lines', {'id': 'bigint', 'v': 'int'}) }}
        """
    added = FILES["models/added.sql"].replace("ref('orders')", "ref('landed')")
    service.project.write({"models/landed.sql": landed, "models/added.sql": added})
    folder = service.home / "landing" / "shop" / "lines"
    folder.mkdir(parents=True)
    (folder / "0.csv").write_text("id,v\n1,10\n")
    assert "runs 2 models" in service.call("start", "--every", "1s", "-s", "+added")
    for number in (1, 2):
        # As a source system does: complete under its name. A line that does not fit is a row, too.
        (folder / "_part").write_text(f"id,v\n{2 * number},1\n{2 * number + 1},x\n")
        (folder / "_part").rename(folder / f"{number}.csv")
        service.wait(1 + 2 * number)
    assert "works" in service.call("status")


@pytest.mark.long
def test_a_stream_that_fails_is_named_and_others_go_on(service: Service) -> None:
    service.dbt("run", "-s", "orders", "counted", "added", "merged")
    sql = FILES["models/added.sql"].replace("select id, v", "select id, 100 div (v - 900) as v")
    service.project.write({"models/added.sql": sql})
    service.call("start", "--every", "1s")
    service.dbt("run", "-s", "orders", "--vars", "from: 60")
    wait_until(lambda: service.models()["added"]["problem"], 200, "the failure")
    assert "DIVIDE_BY_ZERO" in service.call("status", code=1)
    wait_until(lambda: service.models()["merged"]["rows"] == 60, 100, "the other stream")
    service.call("stop")
    service.project.write({"models/added.sql": FILES["models/added.sql"]})
    service.call("start", "--every", "1s")
    wait_until(lambda: service.models()["added"]["rows"] >= 20, 200, "the rows that failed")
    wait_until(lambda: service.models()["added"]["complete"], 200, "the last of them")
    assert service.counts() == [("added", 120, 120), ("merged", 120, 120)]


@pytest.mark.long
def test_killed_at_any_moment_it_goes_on_where_it_was(service: Service) -> None:
    service.dbt("run", "-s", "orders", "counted", "added", "merged")
    service.dbt("run", "-s", "orders", "--vars", "from: 60")
    for rows in (20, 40):
        service.call("start", "--every", "1s")
        wait_until(lambda rows=rows: service.models()["added"]["rows"] >= 20, 200, f"{rows} rows")
        os.kill(json.loads((service.home / "stream" / "service.json").read_text())["pid"], 9)
        assert "it does not run" in service.call("status", code=1)
    service.call("start", "--every", "1s")
    wait_until(lambda: all(one["complete"] for one in service.models().values()), 200, "the end")
    assert service.counts() == [("added", 120, 120), ("merged", 120, 120)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["start", "--every", "soon"], "needs a time such as 10s"),
        (["start", "-s", "orders"], "no model with materialized: stream among orders"),
    ],
)
def test_refusals(service: Service, arguments: list[str], message: str) -> None:
    assert message in service.call(*arguments, code=2)


@pytest.mark.long
def test_it_ends_on_a_signal_in_the_foreground(service: Service) -> None:
    service.dbt("run", "-s", "orders", "added", "merged")
    process = subprocess.Popen(
        [sys.executable, "-m", MODULE, "run"],
        env=service.env,
        cwd=service.project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    status = Path(service.home / "stream" / "status.json")
    wait_until(lambda: status.exists() and '"waits"' in status.read_text(), 200, "its first turn")
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert output == ""
