"""Ctrl-C, a second process and a dead JVM, on the real executable with its own metastore."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.functional.harness import Process, Project, wait_until

# Two tasks that sleep for minutes: long, and no load on the machine.
SLEEP = "java_method('java.lang.Thread', 'sleep', 1000L)"
SLOW = f"select id, {SLEEP} as slept from range(0, 400, 1, 2)"
MODELS = {
    "models/quick.sql": "{{ config(materialized='table') }} select 1 as id",
    "models/long.sql": f"""
        -- depends_on: {{{{ ref('quick') }}}}
        {{{{ config(materialized='table') }}}}
        {SLOW}
    """,
}


@pytest.fixture
def start(project: Project):
    """Starts dbt and waits until a model of minutes writes its rows; ends with the test."""
    project.write(MODELS)
    started: list[Process] = []

    def until_long() -> Process:
        written = len(_files_of_long(project))
        process = project.process("run")
        started.append(process)
        process.wait_for(r"START sql table model .*\.long")
        wait_until(lambda: len(_files_of_long(project)) > written, 60, "rows of long")
        return process

    yield until_long
    for process in started:
        process.kill()


@pytest.mark.long
def test_second_process_then_interrupt_then_dead_jvm(project: Project, start):
    first = start()
    # No JVM is started for this answer: it would not start.
    second = project.process("run", env={"DBT_DELTA_JAVA_OPTIONS": "-XX:NoSuchOption"})
    assert second.wait(60) != 0
    said = [line for line in second.output.splitlines() if "in use" in line]
    assert said, second.output
    assert f"in use by process {first.pid} (dbt run" in said[0]
    assert "Wait until it ends, or use another DBT_DELTA_HOME for this run." in said[0]
    assert "Traceback" not in second.output

    jvm = _owner(project)["jvm"]
    first.interrupt()
    assert first.wait(30) != 0
    assert "CANCEL query model.consumer.long" in first.output
    _no_noise(first.output)
    wait_until(lambda: not _alive(jvm), 20, "the JVM to end")

    # The lock is free and the metastore whole: the next run builds.
    third = start()
    assert "OK created sql table model" in third.output
    os.kill(_owner(project)["jvm"], signal.SIGKILL)
    assert third.wait(30) == 1
    said = [line for line in third.output.splitlines() if "JVM is gone" in line]
    assert said, third.output
    assert "(exit code -9)" in said[0]
    assert "Traceback" not in third.output
    _no_noise(third.output)


def _files_of_long(project: Project) -> list[Path]:
    return list((project.path / "home" / "warehouse").glob("*/long/*.parquet"))


def _no_noise(output: str) -> None:
    for noise in ("py4j", "Py4J", "at org.apache", "WARN ", "VM warning"):
        assert noise not in output


def _owner(project: Project) -> dict:
    lock = project.path / "home" / "metastore.lock"
    try:
        return json.loads(lock.read_text())
    except (FileNotFoundError, ValueError):
        return {}


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
