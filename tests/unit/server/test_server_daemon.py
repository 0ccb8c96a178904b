"""Processes are found again by their records."""

import json
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from dbt_delta.home import write_private
from dbt_delta.server import daemon


@pytest.fixture
def sleeper(tmp_path: Path) -> Generator[dict[str, Any], None, None]:
    """The record of a process that does nothing."""
    found = daemon.spawn(["sleep", "60"], tmp_path, "thrift", {})
    yield found
    # Where a test has put another record in its place.
    write_private(tmp_path / "thrift.json", json.dumps(found))
    daemon.stop(tmp_path, "thrift")


def is_there(pid: int) -> bool:
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return shown.stdout.strip()[:1] not in ("", "Z")


def test_it_is_stopped_once(tmp_path: Path, sleeper: dict[str, Any]) -> None:
    assert daemon.record(tmp_path, "thrift") == sleeper
    assert daemon.is_running(sleeper)
    assert daemon.stop(tmp_path, "thrift")
    assert not is_there(sleeper["pid"])
    assert not daemon.is_running(sleeper)
    assert not daemon.stop(tmp_path, "thrift")


def test_a_later_process_of_its_number_is_a_stranger(
    tmp_path: Path, sleeper: dict[str, Any]
) -> None:
    """The system has given the number of a server that is gone to another process."""
    gone = {**sleeper, "started": "Thu Jan  1 00:00:00 1970"}
    write_private(tmp_path / "thrift.json", json.dumps(gone))
    assert not daemon.is_running(daemon.record(tmp_path, "thrift"))
    assert not daemon.stop(tmp_path, "thrift")
    assert is_there(sleeper["pid"])
    assert not (tmp_path / "thrift.json").exists()
