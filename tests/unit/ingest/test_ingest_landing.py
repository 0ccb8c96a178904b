"""Deliveries land whole, once and in order, whatever happens in between."""

from __future__ import annotations

import errno
import fnmatch
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from dbt_delta.ingest import SOURCES, Delivery, IngestError, Report, days, land, landing, nycflights

FIRST = date(2020, 1, 1)
INDEX = "_landed.json"


class Toy:
    """A source of three days and one table that is there from the start."""

    name = "toy"

    def __init__(self, version: str = "1", text: str = "hello") -> None:
        self.version = version
        self.text = text
        self.made: list[str] = []
        """The files that the landing has asked for."""

    def days(self) -> tuple[date, date]:
        return FIRST, FIRST + timedelta(days=2)

    def deliveries(self, until: date) -> Iterator[Delivery]:
        yield Delivery("names/names.csv", None, b"name\nAda\n")
        for number in range(3):
            day = FIRST + timedelta(days=number)
            if day <= until:
                yield Delivery(f"events/{day}.csv", day, lambda day=day: self._make(day))

    def _make(self, day: date) -> bytes:
        self.made.append(str(day))
        return f"day,text\n{day},{self.text}\n".encode()


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """The content of every file, hidden or not, and when it was written."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {path: content for path, (content, _) in state(folder).items()}


def visible(folder: Path) -> list[str]:
    """The names a glob such as ``*.csv`` of Spark or a shell finds."""
    return sorted(path.name for path in folder.rglob("*") if path.name[0] not in "._")


def replace_dies_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the rename of the file with this number (from 1) fail."""
    replace, calls = os.replace, [0]

    def dying(source: Path, target: Path) -> None:
        calls[0] += 1
        if calls[0] == number:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", dying)


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Another Python process that knows the package."""
    src = Path(landing.__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(src)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_landing_again_changes_nothing(tmp_path: Path) -> None:
    toy = Toy()
    first = land([toy], tmp_path)
    before = state(tmp_path)
    toy.made.clear()
    again = land([toy], tmp_path)
    assert state(tmp_path) == before
    assert toy.made == []
    assert (first.new_files, first.total_files) == (4, 4)
    assert (again.new_files, again.total_files, again.bytes) == (0, 4, 0)
    assert str(again) == "toy: nothing new, 4 files up to 2020-01-03"


def test_landing_the_year_again_reads_no_source(
    whole_year: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = whole_year
    before = state(folder)

    def never(*_: object) -> bytes:
        raise AssertionError

    monkeypatch.setattr(nycflights, "_read", never)
    report = land(["nycflights"], folder)
    assert str(report) == "nycflights: nothing new, 1097 files up to 2014-01-01"
    assert state(folder) == before


def test_two_steps_are_as_good_as_one(tmp_path: Path) -> None:
    land([Toy()], tmp_path / "one")
    steps = [land([Toy()], tmp_path / "two", FIRST + timedelta(days=n)) for n in range(3)]
    assert [step.new_files for step in steps] == [2, 1, 1]
    assert [step.total_files for step in steps] == [2, 3, 4]
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_two_steps_of_the_year_are_as_good_as_one(tmp_path: Path, year: Path) -> None:
    land(["nycflights"], tmp_path, date(2013, 7, 4))
    before = state(tmp_path)
    land(["nycflights"], tmp_path)
    after = state(tmp_path)
    assert contents(tmp_path / "nycflights") == contents(year)
    assert all(after[path] == before[path] for path in before if not path.endswith(INDEX))


def test_an_earlier_day_removes_nothing(tmp_path: Path) -> None:
    land([Toy()], tmp_path)
    before = state(tmp_path)
    report = land([Toy()], tmp_path, FIRST)
    assert state(tmp_path) == before
    assert str(report) == "toy: nothing new, 2 files up to 2020-01-01"


def test_until_is_kept_also_for_files_that_are_gone(tmp_path: Path) -> None:
    land([Toy()], tmp_path)
    for path in (tmp_path / "toy/events").iterdir():
        path.unlink()
    land([Toy()], tmp_path, FIRST)
    assert visible(tmp_path / "toy/events") == ["2020-01-01.csv"]
    assert land([Toy()], tmp_path).new_files == 2


def test_a_later_day_than_the_last_is_the_last(tmp_path: Path) -> None:
    assert land([Toy()], tmp_path, date.max).until == date(2020, 1, 3)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: os.truncate(path, 3)])
def test_a_damaged_file_lands_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    land([Toy()], tmp_path)
    before, toy = state(tmp_path), Toy()
    damage(tmp_path / "toy/events/2020-01-02.csv")
    report = land([toy], tmp_path)
    after = state(tmp_path)
    assert toy.made == ["2020-01-02"]
    assert str(report) == "toy: landed 1 new file (0.0 MB) up to 2020-01-03"
    assert contents(tmp_path) == {path: content for path, (content, _) in before.items()}
    assert {path for path in after if after[path] != before[path]} == {"toy/events/2020-01-02.csv"}


def test_damaged_files_of_the_year_land_again(tmp_path: Path, year: Path) -> None:
    until = date(2013, 1, 2)
    land(["nycflights"], tmp_path, until)
    folder = tmp_path / "nycflights"
    (folder / "flights/2013-01-02.corrections.csv").unlink()
    os.truncate(folder / "flights/2013-01-01.csv", 1000)
    (folder / "planes/planes.csv").unlink()
    assert land(["nycflights"], tmp_path, until).new_files == 3
    landed = {path: content for path, content in contents(folder).items() if path != INDEX}
    assert len(landed) == 8
    assert all((year / path).read_bytes() == content for path, content in landed.items())


def test_a_file_of_the_right_size_is_never_written_again(tmp_path: Path) -> None:
    land([Toy()], tmp_path)
    path = tmp_path / "toy/events/2020-01-01.csv"
    path.write_bytes(path.read_bytes().upper())
    before = state(tmp_path)
    assert land([Toy()], tmp_path).new_files == 0
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    "index", [None, b"", b"{", b"[]", b'{"version": "1"}', b"\xff", b'{"version": "1", "files": 1}']
)
def test_without_the_index_the_files_stay(tmp_path: Path, index: bytes | None) -> None:
    land([Toy()], tmp_path)
    before = state(tmp_path)
    path = tmp_path / "toy" / INDEX
    path.unlink() if index is None else path.write_bytes(index)
    assert land([Toy()], tmp_path).new_files == 0
    after = state(tmp_path)
    assert contents(tmp_path) == {path: content for path, (content, _) in before.items()}
    assert all(after[path] == before[path] for path in before if not path.endswith(INDEX))


def test_another_version_lands_what_differs(tmp_path: Path) -> None:
    land([Toy()], tmp_path)
    before = state(tmp_path)
    assert land([Toy(version="2")], tmp_path).new_files == 0
    assert land([Toy(version="3", text="HELLO")], tmp_path).new_files == 3
    assert state(tmp_path)["toy/names/names.csv"] == before["toy/names/names.csv"]
    assert b"HELLO" in (tmp_path / "toy/events/2020-01-03.csv").read_bytes()


def test_the_index_tells_version_day_and_sizes(tmp_path: Path) -> None:
    land([Toy()], tmp_path, FIRST)
    assert json.loads((tmp_path / "toy" / INDEX).read_bytes()) == {
        "version": "1",
        "until": "2020-01-01",
        "files": {"events/2020-01-01.csv": 26, "names/names.csv": 9},
    }


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_stopped_at_any_file_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    land([Toy()], tmp_path / "whole")
    with monkeypatch.context() as patch:
        replace_dies_at(number, patch)
        with pytest.raises(KeyboardInterrupt):
            land([Toy()], tmp_path / "stopped")
    before = state(tmp_path / "stopped")
    order = ["names.csv", "2020-01-01.csv", "2020-01-02.csv", "2020-01-03.csv"]
    assert {Path(path).name for path in before} == set(order[: number - 1])

    report = land([Toy()], tmp_path / "stopped")
    after = state(tmp_path / "stopped")
    assert report.new_files == 4 - len(before)
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")
    assert all(after[path] == before[path] for path in before)


KILLED = """
import os, pathlib, signal, sys
from dbt_delta.ingest import land

write_bytes, replace, replaced = pathlib.Path.write_bytes, os.replace, 0

def count(source, target):
    global replaced
    replace(source, target)
    replaced += 1

def half(path, content):
    if replaced == 500:
        write_bytes(path, content[: len(content) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    write_bytes(path, content)

os.replace, pathlib.Path.write_bytes = count, half
land(["nycflights"], sys.argv[1])
"""


def test_killed_in_the_middle_of_a_file_the_next_run_goes_on(tmp_path: Path, year: Path) -> None:
    assert run(KILLED, tmp_path).returncode == -signal.SIGKILL
    folder = tmp_path / "nycflights"
    before = state(folder)
    (part,) = (path for path in before if path.endswith(".part"))
    name = part.rpartition("/")[2]
    assert name[0] == "."
    assert not fnmatch.fnmatch(name, "*.csv")
    assert name not in visible(folder)
    whole = {path: content for path, content in contents(folder).items() if path != part}
    assert len(whole) == 500
    assert all((year / path).read_bytes() == content for path, content in whole.items())

    assert land(["nycflights"], tmp_path).new_files == 1097 - 500
    after = state(folder)
    assert contents(folder) == contents(year)
    assert all(after[path] == before[path] for path in whole)


AT_ONCE = """
import sys
from datetime import date
from dbt_delta.ingest import land
print(land(["nycflights"], sys.argv[1], date(2013, 1, 31)).new_files)
"""


def test_two_runs_at_once_share_the_work(tmp_path: Path) -> None:
    src = Path(landing.__file__).parents[2]
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", AT_ONCE, str(tmp_path)],
            env=os.environ | {"PYTHONPATH": str(src)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    new_files = sorted(int(run.communicate(timeout=60)[0]) for run in runs)
    assert new_files == [0, 3 + 31 + 30 + 31]


def test_only_parts_of_our_own_are_removed(tmp_path: Path) -> None:
    land([Toy()], tmp_path)
    events = tmp_path / "toy/events"
    keep = [events / ".gitkeep", events / "_SUCCESS", events / "mine.part", events / "mine.csv"]
    gone = [events / ".2020-01-01.csv.part", tmp_path / f"toy/.{INDEX}.part"]
    for path in keep + gone:
        path.write_text("x")
    assert land([Toy()], tmp_path).new_files == 0
    assert all(path.exists() for path in keep)
    assert not any(path.exists() for path in gone)


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:5])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(IngestError) as caught:
            land([Toy()], tmp_path)
    path = tmp_path / "toy/names/names.csv"
    assert str(caught.value) == f"cannot land {path}: No space left on device"
    assert contents(tmp_path) == {}
    assert land([Toy()], tmp_path).new_files == 4


def test_a_landing_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "landing").write_text("")
    with pytest.raises(IngestError) as caught:
        land([Toy()], tmp_path / "landing")
    assert str(caught.value) == f"cannot land {tmp_path}/landing/toy: Not a directory"


def test_several_sources(
    whole_year: tuple[Path, Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SOURCES, "toy", Toy())
    other = Toy()
    other.name = "other"
    report = land(["toy", other], tmp_path)
    assert visible(tmp_path).count("2020-01-01.csv") == 2
    assert (report.new_files, report.total_files) == (8, 8)
    assert report.bytes == sum(landed.bytes for landed in report.sources)
    assert report.until == date(2020, 1, 3)
    assert str(report).splitlines() == [
        "toy: landed 4 new files (0.0 MB) up to 2020-01-03",
        "other: landed 4 new files (0.0 MB) up to 2020-01-03",
    ]
    assert days("toy") == days(other) == (FIRST, date(2020, 1, 3))
    assert land(SOURCES, whole_year[0].parent / "all", FIRST.replace(2012)).new_files == 4


def test_an_unknown_source_lands_nothing(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"unknown source 'trains'\. Known: nycflights"):
        land([Toy(), "trains"], tmp_path)
    assert contents(tmp_path) == {}
