"""One process per embedded metastore: Derby refuses a second one with 22,000 lines of errors."""

import fcntl
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from dbt_delta.session import warm

JVM_EXIT_SECONDS = 20
REMEDY = "Wait until it ends, or use another DBT_DELTA_HOME for this run"
# For how long a command waits for a service, which gives way after its present batches.
WAY_SECONDS = 600
_LOOK = 0.1
_held: dict[Path, IO[str]] = {}
# A service sets it: whether it goes on waiting for others, to which it gives way.
service: Callable[[], bool] | None = None


class MetastoreInUse(Exception):
    """Another process uses the metastore; the message names it and the way out."""


def metastore_dir(settings: Mapping[str, str]) -> Path | None:
    """The folder of the embedded Derby database in Spark settings, None for another database."""
    url = settings.get("spark.hadoop.javax.jdo.option.ConnectionURL", "")
    match = re.match(r"jdbc:derby:(?!//|memory:)(?:;databaseName=)?([^;]+)", url)
    return Path(match[1]).resolve() if match else None


def acquire(metastore: Path, identity: str = "") -> warm.Warm | None:
    """Locks the metastore for this process, until it ends.

    Returns:
        A place at the Spark that an earlier command has left, if it has this identity; any other
        is ended.

    Raises:
        MetastoreInUse: another process has it.
    """
    path = _path(metastore)
    if path in _held:
        return None
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    _held[path], place = _take(metastore, identity)
    note(_held[path], pid=os.getpid(), command=command[:200], gives_way=service is not None)
    return place


def take(metastore: Path) -> IO[str]:
    """Locks the metastore for as long as the file is open, in this process or one that inherits it.

    Raises:
        MetastoreInUse: another process has it.
    """
    return _take(metastore, "")[0]


def _take(metastore: Path, identity: str) -> tuple[IO[str], warm.Warm | None]:
    """The lock, and a place at a Spark that is kept.

    The lock is the system's (flock), so a killed process leaves none behind. Its JVM may still have
    the database open for a moment; this call waits for it.
    """
    path = _path(metastore)
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+")
    try:
        _wait_for_turn(file, metastore)
        place = warm.attach(metastore, identity)
    except MetastoreInUse:
        file.close()
        raise
    except warm.Unreachable as error:
        file.close()
        raise MetastoreInUse(f"The embedded metastore {metastore} is in use: {error}.") from None
    if place is None:
        _wait_for_jvm(_read(file).get("jvm"))
    return file, place


def _wait_for_turn(file: IO[str], metastore: Path) -> None:
    """Locks the file; waits for a service to give way, and in a service for everybody.

    Raises:
        MetastoreInUse: another process has it.
    """
    until, asked = time.monotonic() + WAY_SECONDS, _asked(metastore)
    is_told = False
    while (service is not None and is_wanted(metastore)) or not _lock(file):
        owner = _read(file)
        if service is None and owner.get("gives_way") and time.monotonic() < until:
            asked.write_text(str(os.getpid()))
            if not is_told:
                said = f"Waiting for {owner.get('command')} (process {owner.get('pid')})"
                print(f"{said}, which gives way after its present batches.", file=sys.stderr)
            is_told = True
        elif service is None or not service():
            raise MetastoreInUse(
                f"The embedded metastore {metastore} is in use by process {owner.get('pid', '?')} "
                f"({owner.get('command', 'unknown')}). {owner.get('remedy', REMEDY)}."
            )
        time.sleep(_LOOK)
    if is_told:
        asked.unlink(missing_ok=True)


def _lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_wanted(metastore: Path | None = None) -> bool:
    """Whether a running process waits for a metastore; by default for any that this one has."""
    if metastore is None:
        return any(is_wanted(path.with_suffix("")) for path in _held)
    asked = _asked(metastore)
    try:
        os.kill(int(asked.read_text()), 0)
    except PermissionError:
        return True
    except (FileNotFoundError, ValueError, ProcessLookupError):
        return False
    return True


def _asked(metastore: Path) -> Path:
    """The file with the number of the process that waits for a service."""
    return metastore.with_name(metastore.name + ".wanted")


def note(file: IO[str], **about: object) -> None:
    """Writes the owner into a lock, for the messages of others: pid, command, remedy."""
    file.seek(0)
    file.truncate()
    json.dump(about, file)
    file.flush()


def record_jvm(metastore: Path, pid: int) -> None:
    """Records the JVM that has the database open, for the next process."""
    file = _held.get(_path(metastore))
    if file is not None:
        note(file, **{**_read(file), "jvm": pid})


def is_open(metastore: Path) -> bool:
    """Whether a JVM has the database open: Derby locks this file itself."""
    try:
        with (metastore / "dbex.lck").open("r+") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _read(file: IO[str]) -> dict[str, object]:
    file.seek(0)
    try:
        return dict(json.loads(file.read()))
    except ValueError:
        return {}


def _path(metastore: Path) -> Path:
    return metastore.with_name(metastore.name + ".lock")


def _wait_for_jvm(pid: object) -> None:
    if not isinstance(pid, int):
        return
    deadline = time.monotonic() + JVM_EXIT_SECONDS
    while time.monotonic() < deadline and _is_spark(pid):
        time.sleep(0.05)


def _is_spark(pid: int) -> bool:
    """Whether the process runs and is a Spark driver, not a later process with its number."""
    # Without -ww, ps cuts the line at $COLUMNS.
    command = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
    shown = subprocess.run(command, capture_output=True, text=True)
    return "org.apache.spark.deploy.SparkSubmit" in shown.stdout
