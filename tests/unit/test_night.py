"""One night at a time, what its summary says, and who is told."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dbt_delta import ingest, night, pipeline
from dbt_delta.night import Busy, Night


def read(home: Path) -> dict:
    return json.loads((home / "nightly.json").read_text())


def test_no_second_one_begins_and_it_leaves_the_summary_alone(tmp_path: Path) -> None:
    first = Night(tmp_path)
    with first.alone():
        second = Night(tmp_path)
        with pytest.raises(Busy, match=f"runs already: process {os.getpid()} since 2"):
            second.alone().__enter__()
        second.end(night.BUSY, "busy")
        assert second.summary["status"] == "busy"
        assert read(tmp_path)["status"] == "running"
        first.end(0)
    with Night(tmp_path).alone():
        assert read(tmp_path)["status"] == "running"


def test_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    script = (
        "import os, sys, pathlib; from dbt_delta.night import Night\n"
        "with Night(pathlib.Path(sys.argv[1])).alone(): os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert ended.returncode == -9
    assert read(tmp_path)["status"] == "running"
    with Night(tmp_path).alone():
        pass


def test_it_names_what_did_not_pass_and_no_message(tmp_path: Path) -> None:
    one = Night(tmp_path)

    def result(id: str, status: str) -> SimpleNamespace:
        node = SimpleNamespace(unique_id=id)
        return SimpleNamespace(node=node, status=status, message="Jane Doe")

    results = [result("model.a", "success"), result("test.b", "fail"), result("model.c", "skipped")]
    with one.alone(), one.step("build") as done:
        ran = SimpleNamespace(
            success=False, exception=None, result=SimpleNamespace(results=results)
        )
        one.note(done, ran)
    one.end(1)
    assert read(tmp_path)["failed"] == [
        {"node": "test.b", "status": "fail"},
        {"node": "model.c", "status": "skipped"},
    ]
    assert "Jane" not in (tmp_path / "nightly.json").read_text()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("exit 4", "run: --on-failure exit 4: it ended with 4\n"),
        ("sleep 5", "run: --on-failure sleep 5: it took more than 0.1 s\n"),
        ("cat > /dev/null", ""),
        ("true", ""),  # it does not read what it is given
    ],
)
def test_whoever_is_told_cannot_hold_it_up(tmp_path, monkeypatch, capfd, command, said) -> None:
    monkeypatch.setattr(night, "NOTIFY_SECONDS", 0.1 if "sleep" in command else 60)
    Night(tmp_path).notify(command)
    assert capfd.readouterr().err == said


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dbt_project.yml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DBT_DELTA_HOME", str(tmp_path))
    return tmp_path


def test_one_that_finds_another_is_told_about_and_ends_with_3(project: Path, capsys) -> None:
    with Night(project).alone(), pytest.raises(SystemExit) as ended:
        pipeline.main(["nightly", "--on-failure", "cat > told.json"])
    assert ended.value.code == 3
    assert capsys.readouterr().err.startswith("run: a night of this home runs already: process ")
    assert json.loads((project / "told.json").read_text())["exit_code"] == 3


def test_a_landing_that_failed_is_an_error(project: Path, monkeypatch, capsys) -> None:
    def land(*arguments: object) -> str:
        raise ingest.IngestError("no space left")

    monkeypatch.setattr(pipeline.ingest, "land", land)
    monkeypatch.setattr(pipeline.Build, "__init__", lambda self, arguments: None)
    with pytest.raises(SystemExit) as ended:
        pipeline.main(["nightly"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "run: no space left\n"
    summary = read(project)
    assert (summary["status"], summary["problem"]) == ("error", "no space left")
    assert [(step["name"], step["ok"]) for step in summary["steps"]] == [
        ("parse", True),
        ("land", False),
    ]
