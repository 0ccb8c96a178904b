"""The metastore lock between real processes."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dbt_delta.session import lock

HOLD = """
import sys
from pathlib import Path
from dbt_delta.session import lock
lock.acquire(Path(sys.argv[1]))
if len(sys.argv) > 2:
    lock.record_jvm(Path(sys.argv[1]), int(sys.argv[2]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def hold(tmp_path: Path):
    """Starts a process that holds the lock until its standard input ends."""
    started = []

    def start(*arguments: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path / "metastore"), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(autouse=True)
def _release():
    yield
    for file in lock._held.values():
        file.close()
    lock._held.clear()


def test_second_process_is_told_who_has_it(hold, tmp_path):
    first = hold()
    with pytest.raises(lock.MetastoreInUse) as refused:
        lock.acquire(tmp_path / "metastore")
    text = str(refused.value)
    assert f"in use by process {first.pid} (" in text
    assert "DBT_DELTA_HOME" in text
    assert "\n" not in text


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_lock_ends_with_its_process(hold, tmp_path, end):
    first = hold()
    os.kill(first.pid, end)
    first.wait()
    lock.acquire(tmp_path / "metastore")
    with pytest.raises(AssertionError):
        hold()


def test_one_process_takes_it_as_often_as_it_likes(tmp_path):
    lock.acquire(tmp_path / "metastore")
    lock.acquire(tmp_path / "metastore")


def test_next_process_waits_for_the_jvm_of_the_last(hold, tmp_path):
    # Any process whose command line names Spark's driver is one to wait for.
    program = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    command = [*program, "org.apache.spark.deploy.SparkSubmit"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as jvm:
        first = hold(str(jvm.pid))
        first.kill()
        first.wait()
        ended = threading.Event()

        def end() -> None:
            ended.set()
            jvm.kill()

        threading.Timer(1, end).start()
        lock.acquire(tmp_path / "metastore")
        assert ended.is_set(), "the database was still open"


def test_a_later_process_with_the_jvms_number_is_not_waited_for(hold, tmp_path, monkeypatch):
    first = hold(str(os.getpid()))
    first.kill()
    first.wait()

    def wait(seconds: float) -> None:
        raise AssertionError("it waits")

    monkeypatch.setattr(lock.time, "sleep", wait)
    lock.acquire(tmp_path / "metastore")


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("jdbc:derby:;databaseName=/data/metastore;create=true", "/data/metastore"),
        ("jdbc:derby:/data/metastore;create=true", "/data/metastore"),
        ("jdbc:derby://server:1527/metastore", None),
        ("jdbc:derby:memory:metastore;create=true", None),
        ("jdbc:postgresql://server/metastore", None),
        ("", None),
    ],
)
def test_metastore_dir(url, folder):
    settings = {"spark.hadoop.javax.jdo.option.ConnectionURL": url}
    assert lock.metastore_dir(settings) == (Path(folder) if folder else None)


def test_a_database_that_another_process_has_open(tmp_path):
    assert not lock.is_open(tmp_path)
    (tmp_path / "dbex.lck").write_bytes(b"\0" * 4)
    assert not lock.is_open(tmp_path)
    program = (
        "import fcntl, sys; file = open(sys.argv[1], 'r+'); fcntl.lockf(file, fcntl.LOCK_EX); "
        "print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "dbex.lck")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"open\n"
        assert lock.is_open(tmp_path)
        other.communicate()
    assert not lock.is_open(tmp_path)
