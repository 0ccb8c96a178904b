"""What cron needs around a night: one at a time in a home, a summary, and a word when it fails.

The summary is the file ``nightly.json`` of the home: {format, pid, started, ended, seconds, status,
exit_code, steps, failed, problem}. ``status`` is running until the end, then ok, failed (a model or
test, exit code 1) or error (2); a killed night leaves running. ``steps`` are {name, seconds, ok};
``failed`` are {node, status} of what did not pass; ``problem`` is one line, or None. Times are ISO
8601 in UTC. No message of a test or model is in it, as these may show values of rows.
"""

import datetime as dt
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FORMAT = 1
# The exit code of a night that does not begin, because another one runs.
BUSY = 3
NOTIFY_SECONDS = 300
GOOD = ("success", "pass", "no-op")
STATUS = {0: "ok", 1: "failed"}


class Busy(Exception):
    """Another night of this home runs; the message says which."""


class Night:
    """One night, whose summary is written when it begins and when it ends."""

    def __init__(self, home: Path) -> None:
        self._path = home / "nightly.json"
        self._since = time.monotonic()
        self.summary: dict[str, Any] = {
            "format": FORMAT,
            "pid": os.getpid(),
            "started": _now(),
            "ended": None,
            "seconds": None,
            "status": "running",
            "exit_code": None,
            "steps": [],
            "failed": [],
            "problem": None,
        }

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While it lasts, no other night of the home begins, on no target.

        The lock is the system's (flock), so a killed night leaves none behind.

        Raises:
            Busy: another night runs.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.with_suffix(".lock").open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                raise Busy(f"a night of this home runs already: {file.read().strip()}") from None
            file.truncate(0)
            file.write(f"process {os.getpid()} since {self.summary['started']}")
            file.flush()
            self._write()
            yield

    @contextmanager
    def step(self, name: str) -> Iterator[dict[str, Any]]:
        """Notes how long a part took, and whether it ended without an exception."""
        began = time.monotonic()
        done: dict[str, Any] = {"name": name, "seconds": None}
        self.summary["steps"].append(done)
        try:
            yield done
            done.setdefault("ok", True)
        finally:
            done.setdefault("ok", False)
            done["seconds"] = round(time.monotonic() - began, 1)

    def note(self, done: dict[str, Any], result: Any) -> None:
        """Notes how a dbt command of a step ended, and the nodes that did not pass."""
        done["ok"] = bool(result.success)
        if result.exception is not None:
            self.summary["problem"] = str(result.exception).strip().partition("\n")[0]
        for one in getattr(result.result, "results", None) or []:
            if str(one.status) not in GOOD and getattr(one, "node", None) is not None:
                about = {"node": one.node.unique_id, "status": str(one.status)}
                self.summary["failed"].append(about)

    def end(self, code: int, problem: str | None = None) -> None:
        """Writes how it ended; of one that was refused only ``summary`` has it."""
        self.summary.update(
            ended=_now(),
            seconds=round(time.monotonic() - self._since, 1),
            status="busy" if code == BUSY else STATUS.get(code, "error"),
            exit_code=code,
            problem=problem or self.summary["problem"],
        )
        if code != BUSY:
            self._write()

    def notify(self, command: str) -> None:
        """Runs a command of the shell, which finds the summary on its standard input.

        Its failure is a line on the console, and not the night's.
        """
        try:
            text = json.dumps(self.summary)
            ran = subprocess.run(
                command, shell=True, input=text, text=True, timeout=NOTIFY_SECONDS, check=False
            )
            problem = f"it ended with {ran.returncode}" if ran.returncode else ""
        except subprocess.TimeoutExpired:
            problem = f"it took more than {NOTIFY_SECONDS} s"
        except OSError as error:
            problem = str(error)
        if problem:
            print(f"run: --on-failure {command}: {problem}", file=sys.stderr)

    def _write(self) -> None:
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self.summary, indent=2) + "\n")
        os.replace(part, self._path)


def _now() -> str:
    return f"{dt.datetime.now(dt.timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
