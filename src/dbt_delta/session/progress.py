"""One line at a terminal that says what runs now, and goes when all is done.

It stands below dbt's own lines, which are written as always: before each of them it goes, and it is
drawn again after it. In a pipe, in CI, with ``--quiet`` or another format of the log there is none.
"""

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from dbt_delta.report import figures, runs

# A build that is done sooner needs no line.
_AFTER = 3.0
_EACH = 1.0
# Of a statement that takes longer, Spark's tasks are told, too.
_LONG = 5.0
# From so many of the newest runs comes what a node usually takes.
_LOOKED_AT = 10
_ERASE = "\r\x1b[2K"


class Line:
    """What runs, and the line that says so. Called from all threads of dbt.

    Args:
        ids: the nodes of the command.
        results: dbt's results, a list that grows.
        usual: seconds by the id of nodes that ran before.
        width: how many of these seconds pass per second, as nodes run side by side.
    """

    def __init__(
        self, ids: list[str], results: list[Any], usual: dict[str, float], width: float
    ) -> None:
        self._ids = set(ids)
        self._results = results
        self._usual = usual
        self._width = max(width, 1.0)
        self._running: dict[str, tuple[str, float]] = {}

    def begin(self, id: str, name: str) -> None:
        self._running[id] = (name, time.monotonic())

    def end(self, id: str) -> None:
        self._running.pop(id, None)

    def longest(self, now: float) -> float:
        """For how many seconds the oldest running node has run; 0 if none runs."""
        return max((now - since for _, since in list(self._running.values())), default=0.0)

    def seconds_left(self, now: float) -> float | None:
        """How long the rest usually takes; None where most of it never ran before."""
        left = self._left()
        known = [id for id in left if id in self._usual]
        if not left or 2 * len(known) < len(left):
            return None
        running = dict(self._running)
        seconds = [
            max(0.0, self._usual[id] - (now - running[id][1] if id in running else 0.0))
            for id in known
        ]
        return max(max(seconds), sum(seconds) / len(known) * len(left) / self._width)

    def text(self, now: float, columns: int, tasks: str = "") -> str:
        """The line, of at most so many columns."""
        running = sorted(list(self._running.values()), key=lambda one: one[1])
        names = [f"{name} {duration(now - since)}" for name, since in running]
        left = self.seconds_left(now)
        parts = [f"{len(self._ids) - len(self._left())} of {len(self._ids)} done"]
        parts += [] if left is None else [f"about {duration(left)} left"]
        parts += [", ".join(names)] if names else []
        parts += [tasks] if tasks else []
        text = " | ".join(parts)
        return text if len(text) <= columns else text[: max(0, columns - 1)] + "…"

    def _left(self) -> set[str]:
        return self._ids - {result.node.unique_id for result in list(self._results)}


class Screen:
    """A terminal's stream with a line at its bottom; ``write`` is for the lines above it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.RLock()
        self._shown = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._lock:
            shown = self._shown
            self.show("")
            written = self._stream.write(text)
            if text.endswith("\n"):
                self.show(shown)
            return written

    def show(self, text: str) -> None:
        """Replaces the line; an empty one is gone."""
        with self._lock:
            if self._shown:
                self._stream.write(_ERASE)
            self._stream.write(text)
            self._stream.flush()
            self._shown = text


@contextmanager
def shown(task: Any, adapter: Any) -> Iterator[None]:
    """The line, while the nodes of a task run. Never fails itself."""
    handler = line = None
    with suppress(Exception):
        if _is_wanted():
            handler, line = _console(), _line(task)
    if handler is None or line is None:
        yield
        return
    screen, done = Screen(handler.stream), threading.Event()
    before = handler.setStream(screen)
    thread = threading.Thread(target=_draw, args=(line, screen, done), daemon=True)
    thread.start()
    adapter.progress = line
    try:
        yield
    finally:
        adapter.progress = None
        done.set()
        thread.join(timeout=5)
        screen.show("")
        handler.setStream(before)


def duration(seconds: float) -> str:
    """Whole seconds below two minutes, then minutes, then hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def known(kept: list[dict[str, Any]]) -> tuple[dict[str, float], float]:
    """What nodes usually take, and how many run side by side, from kept runs."""
    seconds: dict[str, list[float]] = {}
    for run in kept:
        for node in run["nodes"]:
            if node["status"] not in ("skipped", "error", "runtime error"):
                seconds.setdefault(node["id"], []).append(node["seconds"])
    work = [sum(node["seconds"] for node in run["nodes"]) for run in kept]
    spans = [run["ended"] - run["started"] for run in kept]
    widths = [one / span for one, span in zip(work, spans, strict=True) if one and span > 0]
    usual = {id: figures.usual(own) or 0.0 for id, own in seconds.items()}
    return usual, figures.usual(widths) or 1.0


def _line(task: Any) -> Line:
    from dbt.flags import get_flags

    kept: list[dict[str, Any]] = []
    with suppress(Exception):
        files = sorted(runs.folder(get_flags().LOG_PATH).glob("*.json"))[-_LOOKED_AT:]
        kept = [runs.parsed(file) for file in files]
    nodes = [node for node in task._flattened_nodes if not getattr(node, "is_ephemeral_model", 0)]
    # `dbt build` runs unit tests beside the nodes.
    ids = [node.unique_id for node in nodes] + list(getattr(task, "selected_unit_tests", ()))
    same = [run for run in kept if run["command"] == task.args.which]
    return Line(ids, task.node_results, *known(same))


def _is_wanted() -> bool:
    from dbt.flags import get_flags

    flags = get_flags()
    is_plain = str(flags.LOG_FORMAT) in ("default", "text") and str(flags.LOG_LEVEL) == "info"
    is_terminal = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return is_terminal and is_plain and not flags.QUIET and "CI" not in os.environ


def _console() -> Any:
    """The handler with which dbt writes on the terminal; None if it writes elsewhere."""
    from dbt_common.events.event_manager_client import get_event_manager

    for logger in get_event_manager().loggers:
        python = getattr(logger, "_python_logger", None)
        for handler in getattr(python, "handlers", []):
            if getattr(handler, "stream", None) is sys.stdout:
                return handler
    return None


def _draw(line: Line, screen: Screen, done: threading.Event) -> None:
    if done.wait(_AFTER):
        return
    while not done.is_set():
        now = time.monotonic()
        tasks = ""
        if line.longest(now) > _LONG:
            with suppress(Exception):
                tasks = _tasks()
        columns = shutil.get_terminal_size().columns
        screen.show(line.text(now, columns - 1, tasks))
        done.wait(_EACH)


def _tasks() -> str:
    """How far Spark is with the stages that run now; empty if none does."""
    from dbt_delta.session import spark

    if spark._root is None:
        return ""
    tracker = spark._root.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(id) for id in tracker.getActiveStageIds()]
    told = [(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage is not None]
    if not told:
        return ""
    return f"{sum(n for n, _ in told)} of {sum(n for _, n in told)} tasks"
