"""The line at a terminal: what it says, and that dbt's own lines stay as they are."""

import io
import logging
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_delta.session import progress
from dbt_delta.session.progress import Line, Screen


def done(*ids: str) -> list[Any]:
    return [SimpleNamespace(node=SimpleNamespace(unique_id=id)) for id in ids]


def line(results: list[Any] | None = None, **usual: float) -> Line:
    return Line(["a", "b", "c", "d"], results or [], usual, 2.0)


def seen(text: str) -> list[str]:
    """The lines of a terminal after a text with carriage returns and erasures."""
    rows = []
    for part in text.split("\n"):
        rows.append(part.rpartition("\x1b[2K")[2])
    return rows


def test_what_runs_how_much_is_done_and_how_long_it_takes() -> None:
    one = line(done("a"), b=10.0, c=20.0, d=30.0)
    one.begin("b", "orders")
    now = time.monotonic() + 4
    # 6 s of b, c and d, two side by side, but d alone takes 30 s.
    assert one.text(now, 100) == "1 of 4 done | about 30 s left | orders 4 s"
    one.begin("c", "customers")
    assert one.text(now, 30) == "1 of 4 done | about 30 s left…"
    assert one.text(now, 100, "3 of 8 tasks").endswith("customers 4 s | 3 of 8 tasks")
    one.end("b")
    one.end("c")
    assert one.text(now, 100) == "1 of 4 done | about 30 s left"


def test_without_a_history_nothing_is_guessed() -> None:
    assert line().seconds_left(0) is None
    assert line(a=5.0).seconds_left(0) is None
    assert line(a=5.0, b=5.0).seconds_left(0) == 10.0  # the others as long, two side by side
    assert line(done("a", "b", "c", "d"), a=5.0).seconds_left(0) is None


def test_what_runs_longer_than_usual_is_done_any_moment() -> None:
    one = line(done("b", "c", "d"), a=5.0)
    one.begin("a", "slow")
    assert one.seconds_left(time.monotonic() + 60) == 0


def test_history_of_kept_runs() -> None:
    def run(seconds: float, status: str = "success") -> dict[str, Any]:
        nodes = [{"id": id, "status": status, "seconds": seconds} for id in ("a", "b")]
        return {"nodes": nodes, "started": 0.0, "ended": seconds}

    usual, width = progress.known([run(10), run(12), run(0.1, "error")])
    assert usual == {"a": 11, "b": 11}
    assert width == 2
    assert progress.known([]) == ({}, 1.0)


def test_dbts_lines_are_written_as_always_and_the_line_goes() -> None:
    terminal = io.StringIO()
    screen = Screen(terminal)
    screen.write("first\n")
    screen.show("1 of 2 done")
    screen.write("second\n")
    assert seen(terminal.getvalue()) == ["first", "second", "1 of 2 done"]
    screen.show("2 of 2 done")
    screen.show("")
    assert seen(terminal.getvalue()) == ["first", "second", ""]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal on which dbt writes, and a build that is slow at once."""
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    handler = logging.StreamHandler(stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(progress, "_AFTER", 0.01)
    monkeypatch.setattr(progress, "_EACH", 0.01)
    manager = SimpleNamespace(
        loggers=[SimpleNamespace(_python_logger=SimpleNamespace(handlers=[handler]))]
    )
    from dbt_common.events import event_manager_client

    monkeypatch.setattr(event_manager_client, "get_event_manager", lambda: manager)
    stream.handler = handler  # type: ignore[attr-defined]
    return stream


def flags(monkeypatch: pytest.MonkeyPatch, **given: Any) -> None:
    usual = {"LOG_FORMAT": "default", "LOG_LEVEL": "info", "QUIET": False, "LOG_PATH": "/nowhere"}
    monkeypatch.setattr("dbt.flags.get_flags", lambda: SimpleNamespace(**{**usual, **given}))


def build(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a terminal got from a build of two nodes that writes a line; the line is gone."""
    # Not in the fixture: pytest puts its own there in between.
    monkeypatch.setattr(sys, "stdout", terminal)
    nodes = [SimpleNamespace(unique_id=id, is_ephemeral_model=False) for id in ("a", "b")]
    results: list[Any] = []
    about = {"_flattened_nodes": nodes, "node_results": results, "selected_unit_tests": {"u"}}
    task = SimpleNamespace(args=SimpleNamespace(which="build"), **about)
    adapter = SimpleNamespace(progress=None)
    handler = terminal.handler  # type: ignore[attr-defined]
    with progress.shown(task, adapter):
        if adapter.progress:
            adapter.progress.begin("a", "orders")
        time.sleep(0.1)
        handler.stream.write("1 of 2 OK\n")
        results.extend(done("a"))
        time.sleep(0.1)
    assert adapter.progress is None
    assert handler.stream is terminal
    return terminal.getvalue()


def test_a_build_at_a_terminal(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    flags(monkeypatch)
    text = build(terminal, monkeypatch)
    assert "0 of 3 done | orders 0 s" in text
    assert "1 of 3 done | orders 0 s" in text
    assert seen(text) == ["1 of 2 OK", ""]


@pytest.mark.parametrize(
    "given",
    [{"QUIET": True}, {"LOG_FORMAT": "json"}, {"LOG_LEVEL": "none"}, {"LOG_LEVEL": "debug"}],
    ids=str,
)
def test_none_where_nobody_wants_it(terminal, monkeypatch, given: dict[str, Any]) -> None:
    flags(monkeypatch, **given)
    assert build(terminal, monkeypatch) == "1 of 2 OK\n"


@pytest.mark.parametrize("where", ["CI", "pipe", "dumb"])
def test_none_where_nobody_looks(terminal, monkeypatch, where: str) -> None:
    flags(monkeypatch)
    if where == "CI":
        monkeypatch.setenv("CI", "true")
    elif where == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    else:
        terminal.isatty = lambda: False
    assert build(terminal, monkeypatch) == "1 of 2 OK\n"
