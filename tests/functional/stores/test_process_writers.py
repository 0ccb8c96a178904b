"""Two processes with eight writers each append to one table on S3 at once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dbt_delta.session import store
from tests.functional import harness
from tests.functional.stores import serving

THREADS, ROWS = 8, 4


def appended(kind: str, folder: Path) -> tuple[list[str], list[str]]:
    """The rows whose commits were reported as done, and the rows of the table, both in order."""
    with serving.s3(folder) as s3:
        table = f"{s3.address}/{kind}"

        def start(name: str) -> "subprocess.Popen[str]":
            home = folder / f"home of {name}"
            (home / "logs").mkdir(parents=True)
            environment = {**harness.environment(home), **s3.environment}
            environment["DBT_DELTA_MEMORY"] = "1g"
            module = "tests.functional.stores.writers"
            sizes = [str(THREADS), str(ROWS), str(folder)]
            process = subprocess.Popen(
                [sys.executable, "-m", module, table, name, kind, *sizes],
                cwd=harness.REPOSITORY,
                env={**os.environ, **environment},
                stdout=subprocess.PIPE,
                text=True,
            )
            harness.wait_until(
                lambda: (folder / name).exists() or process.poll() is not None, 240, name
            )
            assert process.poll() is None, f"process {name} has ended"
            return process

        writers = [start("first"), start("second")]
        try:
            (folder / "open").touch()
            said = [json.loads(each.communicate(timeout=500)[0]) for each in writers]
        finally:
            for each in writers:
                each.kill()
    assert sorted(said[0]["found"]) == sorted(said[1]["found"])
    return sorted(said[0]["done"] + said[1]["done"]), sorted(said[0]["found"])


@pytest.mark.long
def test_no_commit_is_lost(tmp_path: Path) -> None:
    done, found = appended(store.OURS, tmp_path)
    assert len(done) == 2 * THREADS * ROWS
    assert found == done


@pytest.mark.long
def test_with_deltas_own_log_store_commits_are_lost(tmp_path: Path) -> None:
    # About one commit of sixty: it may take more than one try.
    for attempt in ("first try", "second try", "third try"):
        (tmp_path / attempt).mkdir()
        done, found = appended("io.delta.storage.S3SingleDriverLogStore", tmp_path / attempt)
        if len(found) < len(done):
            return
    raise AssertionError("no commit was lost: the test above proves nothing")
