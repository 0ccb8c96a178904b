"""A Spark that outlives its command, for the next command of the same home.

The command that started Spark hands the JVM's standard input to a keeper when it ends (keeper.py):
Spark's JVM ends by itself when nobody holds that any more. The next command attaches to the JVM,
if it would start it in the same way; otherwise it ends it. Only the process that has the lock of
the metastore may do either.
"""

import hashlib
import json
import os
import re
import secrets
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Any

from dbt_delta.home import write_private

SETTING = "spark.dbt_delta.warm"
VARIABLE = "DBT_DELTA_WARM"
_UNITS = {"s": 1, "m": 60, "h": 3600}
ANSWER_SECONDS = 60
# For both sides to prove that they know the key; the keeper serves nobody else meanwhile.
PROOF_SECONDS = 5
# What a terminal or a shell sets, and what only dbt reads: no JVM works in another way for them.
_OF_SHELLS = re.compile(
    r"_|PWD|OLDPWD|SHLVL|TERM|TERM_.*|COLORTERM|COLUMNS|LINES|WINDOWID|DISPLAY|SSH_.*|XDG_SESSION.*"
    r"|TMUX.*|STY|VTE_.*|HISTFILE|DBT_(?!DELTA_).*|DBT_DELTA_(?:BUILD|PUBLISH|WARM)|PYTEST_.*"
    r"|SPARK_AUTH_SOCKET_TIMEOUT|SPARK_BUFFER_SIZE"
)


class Unreachable(Exception):
    """A Spark is kept, and cannot be had; the message says the way out."""


def seconds(settings: Mapping[str, str]) -> int:
    """For how long Spark waits for the next command; 0: it ends with its own.

    Raises:
        ValueError: the setting is neither ``off`` nor a time such as 15m.
    """
    text = (os.environ.get(VARIABLE) or settings.get(SETTING) or "off").strip().lower()
    if text in ("off", "0", "false"):
        return 0
    found = None if text.startswith("0") else duration(text)
    if found is None:
        raise ValueError(
            f"{VARIABLE} (or {SETTING} in the profile) is {text!r}. Write a time such as 30s, 15m "
            "or 2h, or off"
        )
    return found


def duration(text: str) -> int | None:
    """The seconds of a time such as 30s, 15m or 2h; None if it is none."""
    found = re.fullmatch(r"(\d{1,5})([smh])", text)
    return int(found[1]) * _UNITS[found[2]] if found else None


def identity(settings: Mapping[str, str], places: list[Path]) -> str:
    """What a JVM is started with: settings, files, variables and the folder; as a hash.

    Args:
        places: the files, and folders of files, that it reads when it starts.
    """
    files = [
        (str(path), path.stat().st_size, path.stat().st_mtime_ns)
        for place in places
        for path in ([place] if place.is_file() else sorted(place.rglob("*")))
        if path.is_file()
    ]
    own = {key: value for key, value in settings.items() if key != SETTING}
    shell = {key: value for key, value in os.environ.items() if not _OF_SHELLS.fullmatch(key)}
    text = json.dumps([own, files, shell, os.getcwd(), sys.executable], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def record(metastore: Path) -> Path:
    """The file that says where the keeper is; only its owner can read it."""
    return metastore.with_name(metastore.name + ".warm")


def database(metastore: Path) -> list[int]:
    """What becomes another one if the folder is removed or copied: a JVM has its own files open."""
    try:
        about = (metastore / "service.properties").stat()
    except FileNotFoundError:
        return []
    return [about.st_dev, about.st_ino, about.st_ctime_ns]


def log(metastore: Path) -> Path:
    """What a Spark that is kept, and its keeper, print."""
    return metastore.with_name(metastore.name + ".warm.log")


class Warm:
    """A command's place at a warm Spark; the shape of the process that it would have started."""

    def __init__(self, connection: Connection, found: Mapping[str, Any]) -> None:
        self._connection = connection
        self.port, self.secret, self.pid = int(found["port"]), str(found["secret"]), found["pid"]
        self.returncode = None

    def wait(self, timeout: float) -> None:
        """Waits until the JVM is gone; its exit code is not known.

        Raises:
            subprocess.TimeoutExpired: it still runs.
        """
        if not self._connection.poll(timeout):
            raise subprocess.TimeoutExpired("Spark", timeout)

    def leave(self, wait: int) -> None:
        """Gives the place back: Spark is kept for so many seconds more, 0 ends it."""
        try:
            tell(self._connection, leave=wait)
        except OSError:
            return  # the JVM and its keeper are gone
        self._connection.close()


def attach(metastore: Path, wanted: str) -> Warm | None:
    """A place at the Spark of this metastore if it was started as ``wanted``; else none runs.

    Raises:
        Unreachable: one is there that does not answer, or that belongs to another user.
    """
    found = _found(metastore)
    if found is None:
        return None
    is_same = found["identity"] == wanted and found.get("database") == database(metastore)
    try:
        connection = _connect(found)
        tell(connection, ask="attach" if is_same else "end")
        answer = hear(connection, ANSWER_SECONDS)
    except (ConnectionError, EOFError, AuthenticationError):
        # The keeper was killed; its JVM ends by itself, and the lock waits for that.
        record(metastore).unlink(missing_ok=True)
        return None
    except OSError as error:
        raise Unreachable(
            f"Spark was kept for the next command, and process {found['keeper']}, which keeps it, "
            f"does not answer ({error}). End that process"
        ) from None
    if "port" in answer:
        return Warm(connection, answer)
    connection.close()
    return None


def hand_over(metastore: Path, jvm: "subprocess.Popen[bytes]", about: Mapping[str, Any]) -> None:
    """Leaves this process's Spark to a keeper.

    Args:
        jvm: the process; its standard input is what keeps it alive.
        about: its ``identity``, ``port_of_java`` and ``secret`` of its gateway, ``wait`` in
            seconds, and ``added``, the files and JARs that it ships (see keeper.py).
    """
    listener = socket.create_server(("127.0.0.1", 0), backlog=8)
    found = {
        "identity": about["identity"],
        "database": database(metastore),
        "port": listener.getsockname()[1],
        "key": secrets.token_hex(32),
        "pid": jvm.pid,
    }
    assert jvm.stdin is not None
    held = (jvm.stdin.fileno(), listener.fileno())
    path = record(metastore)
    with log(metastore).open("ab") as output:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "dbt_delta.session.keeper", str(path), *map(str, held)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            pass_fds=held,
            start_new_session=True,
        )
    write_private(path, json.dumps({**found, "keeper": keeper.pid}))
    assert keeper.stdin is not None
    keeper.stdin.write(json.dumps({**about, **found}).encode())
    keeper.stdin.close()
    # Neither is waited for: Python would warn of it.
    jvm.returncode = keeper.returncode = 0


def hear(connection: Connection, timeout: float | None) -> dict[str, Any]:
    """The other side's next message.

    Raises:
        EOFError: the other side is gone.
        TimeoutError: it said nothing.
    """
    if not connection.poll(timeout):
        raise TimeoutError(f"no answer after {timeout} s")
    return dict(json.loads(connection.recv_bytes()))


def tell(connection: Connection, **message: Any) -> None:
    """Says something to the other side."""
    connection.send_bytes(json.dumps(message).encode())


def _found(metastore: Path) -> dict[str, Any] | None:
    path = record(metastore)
    try:
        return dict(json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except PermissionError:
        raise Unreachable(
            f"Spark was kept for the next command of another user ({path}). Wait until it ends, or "
            "use another DBT_DELTA_HOME"
        ) from None
    except ValueError:
        path.unlink(missing_ok=True)
        return None


def _connect(found: Mapping[str, Any]) -> Connection:
    """Each side proves that it knows the key of the record."""
    place = socket.create_connection(("127.0.0.1", found["port"]), timeout=ANSWER_SECONDS)
    place.settimeout(None)
    if not select.select([place], [], [], ANSWER_SECONDS)[0]:
        raise TimeoutError(f"no answer after {ANSWER_SECONDS} s")
    return _proved(place, str(found["key"]), answer_challenge, deliver_challenge)


def admit(place: socket.socket, key: str) -> Connection:
    """The keeper's side of a connection.

    Raises:
        AuthenticationError: the other side does not know the key.
        EOFError: it said nothing.
    """
    place.settimeout(None)
    return _proved(place, key, deliver_challenge, answer_challenge)


def _proved(
    place: socket.socket, key: str, *steps: Callable[[Connection, bytes], None]
) -> Connection:
    """A connection on which both sides have taken their steps; it is cut if that takes long."""

    def cut() -> None:
        with suppress(OSError):
            place.shutdown(socket.SHUT_RDWR)

    with place:
        connection = Connection(os.dup(place.fileno()))
        timer = threading.Timer(PROOF_SECONDS, cut)
        timer.start()
        try:
            for step in steps:
                step(connection, key.encode())
        finally:
            timer.cancel()
    return connection
