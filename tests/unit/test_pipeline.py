"""Which nights a replay plays, and what becomes of one that fails."""

import datetime as dt
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_delta import pipeline
from dbt_delta.pipeline import steps

FIRST, LAST = dt.date(2013, 1, 1), dt.date(2014, 1, 1)


@pytest.mark.parametrize(("step", "nights"), [("day", 366), ("week", 53), ("month", 13)])
def test_steps_end_with_the_last_day(step: str, nights: int) -> None:
    days = list(steps(FIRST, LAST, step))
    assert len(days) == nights
    assert days == sorted(set(days))
    assert days[-1] == LAST


def test_months_end_with_their_last_day() -> None:
    assert list(steps(FIRST, dt.date(2013, 3, 10), "month")) == [
        dt.date(2013, 1, 31),
        dt.date(2013, 2, 28),
        dt.date(2013, 3, 10),
    ]


def test_weeks_end_on_sunday() -> None:
    assert list(steps(FIRST, dt.date(2013, 1, 9), "week")) == [
        dt.date(2013, 1, 6),
        dt.date(2013, 1, 9),
    ]


@pytest.mark.parametrize("step", ["day", "week", "month"])
def test_one_day_is_one_night(step: str) -> None:
    assert list(steps(FIRST, FIRST, step)) == [FIRST]


@pytest.fixture
def landed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project into which a file has landed already; no file is new."""
    (tmp_path / "dbt_project.yml").touch()
    file = tmp_path / "landing" / "nycflights" / "flights" / "day.csv"
    file.parent.mkdir(parents=True)
    file.write_text("id\n1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DBT_DELTA_HOME", str(tmp_path))
    monkeypatch.setattr(pipeline.ingest, "land", lambda *arguments: "nothing new")


def fails(exception: Exception | None = None) -> SimpleNamespace:
    """The result of a dbt command of which a node failed, or that came to none."""
    return SimpleNamespace(success=False, exception=exception, result=None)


@pytest.mark.usefixtures("landed")
@pytest.mark.parametrize(
    ("failing", "code"),
    [
        ({}, 0),
        ({"build": fails()}, 1),
        ({"build": fails(RuntimeError("no such profile"))}, 2),
        ({"run-operation maintain": fails()}, 1),
        ({"build": fails(), "run-operation maintain": fails(RuntimeError("no Spark"))}, 1),
        ({"run-operation erase_verify": fails()}, 1),
    ],
)
def test_a_night_maintains_in_any_case_and_ends_with_the_first_failure(
    monkeypatch: pytest.MonkeyPatch, failing: dict[str, Any], code: int
) -> None:
    done: list[str] = []
    steps = ["maintain"]
    if "run-operation erase_verify" in failing:
        monkeypatch.setenv("DBT_ENV_SECRET_ERASURE_KEY", "a secret of a test, long enough")
        steps.append("erase_verify")

    class Runner:
        def __init__(self, manifest: Any = None) -> None:
            pass

        def invoke(self, command: list[str]) -> Any:
            words = [word for word in command if word[:2] != "--"]
            done.append(" ".join(words[: 2 if words[0] == "run-operation" else 1]))
            fine = SimpleNamespace(success=True, exception=None, result=None)
            return failing.get(done[-1], fine)

    monkeypatch.setitem(sys.modules, "dbt.cli.main", SimpleNamespace(dbtRunner=Runner))
    with pytest.raises(SystemExit) as ended:
        pipeline.main(["nightly", "--on-failure", "cat > told.json"])
    assert done == ["parse", "build", *(f"run-operation {name}" for name in steps)]
    assert ended.value.code == code
    summary = json.loads(Path("nightly.json").read_text())
    assert (summary["exit_code"], summary["status"]) == (code, ["ok", "failed", "error"][code])
    assert [step["name"] for step in summary["steps"]] == ["parse", "land", "build", *steps]
    assert [step["ok"] for step in summary["steps"][2:]] == [
        name not in failing for name in done[1:]
    ]
    told = Path("told.json")
    assert (json.loads(told.read_text()) if told.exists() else None) == (summary if code else None)


@pytest.mark.parametrize("command", ["build", "replay"])
def test_until_needs_a_date(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit) as ended:
        pipeline.main([command, "--until", "january"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said == "run: --until needs a date such as 2013-01-31. Got: 'january'\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], []),
        (["--select", "a", "--target", "iceberg", "-x"], ["--target", "iceberg"]),
        (["-t", "iceberg"], ["-t", "iceberg"]),
        (["--target=iceberg", "--full-refresh"], ["--target=iceberg"]),
    ],
)
def test_all_commands_of_a_build_have_its_target(arguments, expected) -> None:
    assert pipeline._target(arguments) == expected
