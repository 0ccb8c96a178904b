"""Spark that outlives its command, on the real executable: who gets it, and when it ends."""

import json
import os
import shutil
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.functional.harness import Process, Project, wait_until

WARM = {"DBT_DELTA_WARM": "90s"}
SLEEP = "java_method('java.lang.Thread', 'sleep', 1000L)"
MODELS = {
    "macros/leave.sql": """
        {% macro leave() %}
            {% do run_query("create global temp view left_behind as select 1 as id") %}
            {% do run_query("create temp view mine as select 1 as id") %}
            {% do run_query("set spark.sql.session.timeZone = Asia/Tokyo") %}
            {% do run_query("cache table cached as select 1 as id") %}
            {{ print(_zone()) }}
        {% endmacro %}
        {% macro look() %}
            {{ print(_zone()) }}
            {{ print(run_query("show views in global_temp").rows | length) }}
        {% endmacro %}
        {% macro _zone() %}
            {{ return(run_query("select current_timezone()").rows[0][0]) }}
        {% endmacro %}
        {% macro add_file(path) %}{% do run_query("add file '" ~ path ~ "'") %}{% endmacro %}
    """,
    "models/long.sql": f"""
        {{{{ config(materialized='table') }}}} select id, {SLEEP} as slept from range(0, 400, 1, 2)
    """,
    "models/quick.sql": "{{ config(materialized='table') }} select 1 as id",
    "models/in_python.py": """
        def model(dbt, session):
            session.sparkContext._jsc.hadoopConfiguration().set("left.behind", "1")
            return session.range(2)
    """,
}


class Home:
    """dbt commands of one home, and what is kept between them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.metastore = project.path / "home" / "metastore"
        self.processes: list[Process] = []

    def start(self, *arguments: str, **env: str) -> Process:
        process = self.project.process(*arguments, env={**WARM, **env})
        self.processes.append(process)
        return process

    def start_long(self) -> Process:
        """A run in the middle of a statement of minutes."""
        before = self._rows_of_long()
        process = self.start("run", "-s", "long")
        wait_until(lambda: self._rows_of_long() > before, 90, "rows")
        return process

    def _rows_of_long(self) -> int:
        return len(list(self.project.path.glob("home/warehouse/*/long/*.parquet")))

    def run(self, *arguments: str, **env: str) -> str:
        process = self.start(*arguments, **env)
        code = process.wait()
        assert code == 0, process.output
        assert "Traceback" not in process.output
        return process.output

    def found(self) -> dict[str, Any]:
        return json.loads(self.metastore.with_name("metastore.warm").read_text())

    def is_kept(self) -> bool:
        return self.metastore.with_name("metastore.warm").exists()

    def wait_for_end(self, jvm: int) -> None:
        wait_until(lambda: not alive(jvm) and not self.is_kept(), 40, "the JVM to end")


@pytest.fixture
def kept(project: Project):
    project.write(MODELS)
    found = Home(project)
    yield found
    for process in found.processes:
        process.kill()
    if found.is_kept():
        jvm = found.found()["pid"]
        os.kill(found.found()["keeper"], signal.SIGKILL)
        wait_until(lambda: not alive(jvm), 40, "the JVM to end")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.long
def test_the_next_command_has_the_same_spark_and_finds_it_as_new(kept: Home) -> None:
    shown = kept.run("run-operation", "leave")
    assert "Asia/Tokyo" in shown
    first = kept.found()
    shown = kept.run("run-operation", "look").splitlines()
    assert [line.partition("  ")[2] or line for line in shown][-2:] == ["UTC", "0"], shown
    kept.run("run", "-s", "quick")
    assert kept.found() == first
    # Others on this machine know neither the key nor the record.
    assert kept.metastore.with_name("metastore.warm").stat().st_mode & 0o777 == 0o600
    with socket.create_connection(("127.0.0.1", first["port"])) as stranger:
        stranger.sendall(b"\0\0\0\2{}")
    with socket.create_connection(("127.0.0.1", first["port"])):
        kept.run("run", "-s", "quick")
    assert kept.found() == first
    # A Python model may change anything in the JVM.
    kept.run("run", "-s", "in_python")
    kept.wait_for_end(first["pid"])


@pytest.mark.long
def test_a_jvm_of_other_settings_or_with_a_file_is_not_taken(kept: Home) -> None:
    kept.run("run", "-s", "quick")
    second = kept.found()
    folder = kept.project.path / "temporary"
    folder.mkdir()
    kept.run("run", "-s", "quick", SPARK_LOCAL_DIRS=str(folder))
    assert not alive(second["pid"])
    third = kept.found()
    assert third["identity"] != second["identity"]
    # Somebody removes the temporary folder; and no statement takes an added file away.
    shutil.rmtree(folder)
    added = json.dumps({"path": str(kept.project.path / "dbt_project.yml")})
    kept.run("run-operation", "add_file", "--args", added, SPARK_LOCAL_DIRS=str(folder))
    assert _jvm(kept) != third["pid"]
    kept.wait_for_end(_jvm(kept))


@pytest.mark.long
def test_a_killed_command_takes_its_spark_with_it(kept: Home) -> None:
    """The statement that dbt was running ends with dbt, as it does without a keeper."""
    kept.run("run", "-s", "quick")
    jvm = kept.found()["pid"]
    process = kept.start_long()
    other = kept.start("run", "-s", "quick")
    assert other.wait() != 0
    assert f"in use by process {process.pid} (dbt run -s long" in other.output
    process.kill()
    kept.wait_for_end(jvm)


@pytest.mark.long
def test_whatever_is_killed_nothing_is_left_and_the_next_command_builds(kept: Home) -> None:
    # Ctrl-C in the middle of one: dbt has cancelled it, so Spark may stay.
    process = kept.start_long()
    process.interrupt()
    assert process.wait(60) != 0
    assert "CANCEL query model.consumer.long" in process.output
    # The keeper; its JVM ends by itself.
    kept.run("run", "-s", "quick")
    found = kept.found()
    os.kill(found["keeper"], signal.SIGKILL)
    kept.run("run", "-s", "quick")
    assert not alive(found["pid"])
    # The JVM, while nobody uses it, and while somebody does.
    found = kept.found()
    os.kill(found["pid"], signal.SIGKILL)
    kept.run("run", "-s", "quick")
    process = kept.start_long()
    os.kill(kept.found()["pid"], signal.SIGKILL)
    assert process.wait(60) == 1
    assert "Spark's JVM is gone: it was killed or" in process.output
    # Its catalog would be gone with it.
    kept.run("run", "-s", "quick")
    jvm = kept.found()["pid"]
    for name in ("metastore", "warehouse"):
        shutil.rmtree(kept.metastore.with_name(name))
    kept.run("run", "-s", "quick")
    assert not alive(jvm)
    # A command that keeps nothing ends what was kept, and its own.
    jvm = kept.found()["pid"]
    kept.run("run", "-s", "quick", DBT_DELTA_WARM="off")
    assert not kept.is_kept()
    assert not alive(jvm)


@pytest.mark.long
def test_it_ends_after_its_time_and_with_its_home(kept: Home) -> None:
    kept.run("run", "-s", "quick", DBT_DELTA_WARM="3s")
    kept.wait_for_end(_jvm(kept))
    kept.run("run", "-s", "quick")
    jvm = kept.found()["pid"]
    kept.metastore.with_name("metastore.warm").unlink()
    wait_until(lambda: not alive(jvm), 40, "the JVM to end")
    process = kept.start("run", "-s", "quick", DBT_DELTA_WARM="soon")
    assert process.wait() != 0
    assert "DBT_DELTA_WARM (or spark.dbt_delta.warm in the profile) is 'soon'" in process.output


def _jvm(home: Home) -> int:
    return int(json.loads(home.metastore.with_name("metastore.lock").read_text())["jvm"])
