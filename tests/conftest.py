"""Which tests run, in which order, and how long they took.

Without ``--long`` the tests marked ``long`` are left out, unless they are named (``file::test``),
and random cases are few and always the same ones. Of several processes each takes the longest file
that is left, by ``seconds.json``, so that none idles at the end. The seconds of each run are kept
beside pytest's cache; durations.py compares them.
"""

import os
import time
from collections import Counter

import pytest

from tests import durations

_started = time.monotonic()
_seconds: Counter[str] = Counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long", action="store_true", help="run what is long or rare, too, and new random cases"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--long"):
        # drawing.py reads it, in the processes of xdist, too.
        os.environ["DBT_DELTA_LONG"] = "yes"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        named = tuple(argument for argument in config.args if "::" in argument)
        long = [
            item
            for item in items
            if item.get_closest_marker("long") and not item.nodeid.startswith(named)
        ]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
    if not hasattr(config, "workerinput"):
        return
    known = durations.by_file(durations.recorded())
    files = {item.nodeid: item.nodeid.partition("::")[0] for item in items}
    # A file that nobody has timed yet might be long.
    items.sort(key=lambda item: -known.get(files[item.nodeid], float("inf")))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ or not _seconds:
        return
    durations.keep(_seconds)
    if not terminalreporter.config.getoption("numprocesses", None):
        return
    terminalreporter.section("seconds")
    for name, seconds in _seconds.most_common(10):
        terminalreporter.line(f"{seconds:6.0f}  {name}")
    terminalreporter.line(
        f"{_seconds.total():6.0f}  in all; {time.monotonic() - _started:.0f} by the clock"
    )
