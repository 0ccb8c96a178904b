"""Cancel, seen from inside the driver: which jobs run, what they are called, what is left."""

import os
import signal
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest

from tests.functional import harness

SLEEP = "java_method('java.lang.Thread', 'sleep', 1000L)"
# One task, so that a node beside it has a core for its own.
SLOW = f"select id, {SLEEP} as slept from range(0, 400, 1, 1)"
LONG = (
    "{{ config(materialized='table') }}\n"
    f"{{% if var('slow', false) %}} {SLOW} {{% else %}} select 1L as id, 'x' as slept {{% endif %}}"
)


@pytest.fixture
def interrupt_when_running() -> Generator[Callable[[str], list[Any]], None, None]:
    """Sends this process a Ctrl-C once a job of that name runs; returns the jobs it saw."""
    threads = []

    def watch(name: str) -> list[Any]:
        seen: list[Any] = []

        def wait() -> None:
            def running() -> bool:
                seen[:] = [job for job in _jobs("RUNNING") if name in job["description"]]
                return bool(seen)

            harness.wait_until(running, 60, f"a job of {name}")
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=wait)
        thread.start()
        threads.append(thread)
        return seen

    yield watch
    for thread in threads:
        thread.join()


def test_without_fail_fast_siblings_go_on_and_interrupt_leaves_nothing_running(
    project, interrupt_when_running
):
    project.write(
        {
            "models/long.sql": LONG,
            "models/child.sql": "select * from {{ ref('long') }}",
            "models/good.sql": f"""
                {{{{ config(materialized='table') }}}}
                {SLOW.replace("400", "3")}
            """,
            "models/broken.sql": "select no_such_column",
        }
    )
    run = project.dbt("run", check=False)
    assert run.result("broken").status == "error"
    assert run.result("good").status == "success"
    before = project.version("long")

    jobs = interrupt_when_running("long")
    run = project.dbt("run", "-s", "long", "child", vars={"slow": True}, check=False)
    assert isinstance(run.exception, KeyboardInterrupt)
    assert "CANCEL query model.consumer.long" in run.output

    invocation = run.events[0].info.invocation_id
    assert {job["description"] for job in jobs} == {f"model.consumer.long ({invocation})"}
    assert all(job["group"].startswith(f"model.consumer.long {invocation} ") for job in jobs)
    assert not [job for job in _jobs("RUNNING") if "long" in job["description"]]
    assert [job for job in _jobs("FAILED") if job["description"] == jobs[0]["description"]]
    assert project.version("long") == before
    assert project.rows("long") == [{"id": 1, "slept": "x"}]

    project.dbt("run", "-s", "long", "child")
    assert project.version("long") == before + 1


def test_fail_fast_cancels_siblings(project):
    # The child keeps dbt waiting for the next node, in the call that does not see the failure.
    project.write(
        {
            "models/long.sql": LONG,
            "models/child.sql": "select * from {{ ref('long') }}",
            "models/broken.sql": """
                {{ config(pre_hook="select java_method('java.lang.Thread', 'sleep', 3000L)") }}
                select no_such_column
            """,
        }
    )
    run = project.dbt("run", "--fail-fast", vars={"slow": True}, check=False, threads=2)
    assert not [job for job in _jobs("RUNNING") if "long" in job["description"]]
    assert run.result("long").status == "error"
    assert "\n  Cancelled\n" in run.result("long").message
    assert run.result("child").status == "skipped"
    # The failure shown first is the one that began it.
    assert run.output.index("Failure in model broken") < run.output.index("Failure in model long")
    assert project.sql("show tables in {schema}") == []


def _jobs(status: str) -> list[dict[str, str]]:
    """The driver's jobs with that status."""
    found = harness.session().sparkContext._jsc.sc().statusStore().jobsList(None)
    jobs = [found.apply(i) for i in range(found.size())]
    return [
        {"description": job.description().getOrElse(None) or "", "group": job.jobGroup().get()}
        for job in jobs
        if job.status().toString() == status and job.jobGroup().isDefined()
    ]
