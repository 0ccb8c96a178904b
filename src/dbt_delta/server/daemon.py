"""Processes that outlive the terminal. Each has a record in a file to find it again."""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from dbt_delta.home import write_private
from dbt_delta.server import ServerError
from dbt_delta.session import errors

STOP_SECONDS = 30


@contextlib.contextmanager
def exclusively(folder: Path) -> Generator[None, None, None]:
    """Start or stop in ``folder``, one at a time."""
    private_folder(folder)
    with (folder / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def private_folder(folder: Path) -> Path:
    """Makes a folder that only its owner can open."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def spawn(
    command: list[str],
    folder: Path,
    name: str,
    environment: Mapping[str, str],
    keep_open: Iterable[IO[str]] = (),
    **about: Any,
) -> dict[str, Any]:
    """Starts a process in its own session, which survives the end of the terminal.

    Its output goes to ``<folder>/<name>.out``; its record, with ``about``, to ``<name>.json``; its
    number alone to ``<name>.pid``. Files in ``keep_open`` stay open in it, with the locks on them.

    Returns:
        The record.
    """
    with (folder / f"{name}.out").open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=tuple(file.fileno() for file in keep_open),
        )
    found = {"pid": process.pid, "started": _started(process.pid), **about}
    write_private(folder / f"{name}.json", json.dumps(found))
    # For systemd, which reads nothing else.
    write_private(folder / f"{name}.pid", f"{process.pid}\n")
    return found


def wait(
    folder: Path,
    titles: Mapping[str, str],
    is_ready: Callable[[], bool],
    seconds: float,
    lacking: str,
    logs: Path,
) -> None:
    """Waits for processes that were just started to do their work.

    Args:
        titles: the user's word for each process, by its name.
        lacking: what is missing while they are not ready.
        logs: where to read more.

    Raises:
        ServerError: one has ended, or they took longer.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for name, title in titles.items():
            if not is_running(record(folder, name)):
                words = last_words(folder / f"{name}.out")
                raise ServerError(f"{title} did not start: {words} (more in {logs})")
        if is_ready():
            return
        time.sleep(0.1)
    raise ServerError(f"no {lacking} after {seconds} s, so it was stopped; see {logs}")


def spark_home() -> Path:
    """The folder of pyspark, with Spark's own scripts."""
    import pyspark

    return Path(pyspark.__file__).parent


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def port_problem(host: str, port: int) -> str:
    """Why the port cannot be used; empty if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        # As in Java: the remains of a server that has just ended do not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.strerror or str(error)
    return ""


def record(folder: Path, name: str) -> dict[str, Any] | None:
    """The record of the process, even if it no longer runs."""
    try:
        return dict(json.loads((folder / f"{name}.json").read_text()))
    except (FileNotFoundError, ValueError):
        return None


def is_running(found: Mapping[str, Any] | None) -> bool:
    """Whether exactly this process still runs, and not a later one with its number."""
    return found is not None and _started(found["pid"]) == found["started"] != ""


def stop(folder: Path, name: str) -> bool:
    """Ends the process on record, waits for its end, and returns whether there was one.

    Raises:
        ServerError: it belongs to another user.
    """
    found = record(folder, name)
    is_there = is_running(found)
    if found is not None and is_there:
        _end(found)
    for kind in ("json", "pid"):
        (folder / f"{name}.{kind}").unlink(missing_ok=True)
    return is_there


def _end(found: Mapping[str, Any]) -> None:
    for number, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, STOP_SECONDS)):
        try:
            os.kill(found["pid"], number)
        except ProcessLookupError:
            return
        except PermissionError:
            problem = f"process {found['pid']} belongs to another user, who must stop it"
            raise ServerError(problem) from None
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not is_running(found):
                return
            time.sleep(0.05)


def last_words(output: Path) -> str:
    """The most useful line of what a process printed before it ended."""
    try:
        lines = [line.strip() for line in output.read_text(errors="replace").splitlines()]
    except FileNotFoundError:
        lines = []
    words = [line for line in lines if line and not line.startswith(("at ", "WARNING:"))]
    telling = [line for line in words if "Error" in line or "Exception" in line]
    said = (telling or words or ["it said nothing"])[-1]
    return errors.tidy(said.removeprefix('Exception in thread "main" '))[:400]


def _started(pid: int) -> str:
    """When a process started, to the second; empty where there is none, or it is a zombie."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    shown = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True
    ).stdout.split(None, 1)
    return "" if len(shown) < 2 or shown[0].startswith("Z") else shown[1].strip()
