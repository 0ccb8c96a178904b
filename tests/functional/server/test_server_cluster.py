"""The server as a client of a real standalone cluster, and a worker killed in its midst."""

import json
import os
import signal
from collections.abc import Callable, Generator
from functools import partial

import pytest

from dbt_delta.server.daemon import free_port
from tests.functional.harness import Project, Run, wait_until
from tests.functional.server.conftest import Server

pytestmark = pytest.mark.long
SLEEP = "java_method('java.lang.Thread', 'sleep', 1500L)"


@pytest.fixture(scope="module")
def clustered(new_server: Callable[..., Server]) -> Generator[tuple[Server, Callable[..., Run]]]:
    """A server that was started on a cluster, and ``./run cluster``."""
    server, port = new_server(), free_port()
    cluster = partial(server.command, "cluster")
    started = cluster("start", "--workers", "2", "--port", str(port))
    assert started.code == 0, started.output
    assert f"SPARK_MASTER=spark://127.0.0.1:{port} ./run server start" in started.output
    run = server.run("start", SPARK_MASTER=f"spark://127.0.0.1:{port}", DBT_DELTA_MEMORY="1g")
    assert run.code == 0, run.output
    yield server, cluster
    server.run("stop")
    assert cluster("stop").output == "cluster: stopped\n"
    assert cluster("stop").output == "cluster: was not running\n"


def test_a_merge_survives_its_worker(
    clustered: tuple[Server, Callable[..., Run]], project: Project
) -> None:
    server, cluster = clustered
    status = cluster("status")
    assert status.code == 0
    assert "2 of 2 workers" in status.output
    assert cluster("start").output.startswith("cluster: already running")
    project.write(
        {
            "models/a.sql": f"""
            {{{{ config(materialized='incremental', unique_key='id') }}}}
            select id, {{{{ var('v', 1) }}}} as v from range(0, 20, 1, 10)
            {{% if var('v', 1) > 1 %}} where {SLEEP} is null or true {{% endif %}}
        """
        }
    )
    process = server.dbt(project, "run", "--target", "cluster")
    assert process.wait() == 0, process.output
    process = server.dbt(project, "run", "--target", "cluster", "--vars", json.dumps({"v": 2}))
    wait_until(server.jobs, 120, "the merge's job")
    worker = json.loads((server.home / "cluster" / "worker-1.json").read_text())["pid"]
    os.killpg(worker, signal.SIGKILL)
    assert process.wait() == 0, process.output
    found = server.sql(f"select count(*), count(distinct id), min(v) from {project.schema}.a")
    assert found == [(20, 20, 2)]
    assert server.version(f"{project.schema}.a") == 1
    status = cluster("status")
    assert status.code == 1
    assert "1 of 2 workers" in status.output
