"""Keeps a Spark that its command has left, until the next command or the end of its time.

``python -m dbt_delta.session.keeper RECORD STDIN LISTENER``: the file that commands find this
process by, and two inherited descriptors, the JVM's standard input and a listening socket. One
command at a time is served. A command that ends without a word was killed: the JVM ends, too, as
it would have without a keeper. So does one that is not as it was when it started: Python workers
hold old modules, added JARs cannot be removed.
"""

import json
import os
import select
import signal
import socket
import sys
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dbt_delta.session import warm

# Of the heap that may be in use between two commands.
MOST_OF_HEAP = 0.5
# The Python process by which Spark looks for data sources written in Python, once.
LOOKUP = "pyspark.sql.worker.lookup_data_sources"
# For a child process that ends by itself; on a busy machine that takes seconds.
CHILD_SECONDS = 10
# For the JVM to stop Spark.
END_SECONDS = 20


class Keeper:
    """One JVM, by its gateway, and the place where commands ask for it."""

    def __init__(self, path: Path, pipe: int, listener: socket.socket, about: dict[str, Any]):
        self._path = path
        self._pipe: int | None = pipe
        self._listener = listener
        self._about = about
        self._wait = float(about["wait"])
        self._until = 0.0
        self._gateway = _gateway(about)
        self._jvm = self._gateway.jvm
        self._watch = socket.create_connection(("127.0.0.1", about["port_of_java"]))
        self._server: Any = None

    def run(self) -> None:
        """Serves commands until the JVM is to end, and ends it."""
        try:
            if not self._is_clean():
                return
            self._until = time.monotonic() + self._wait
            while time.monotonic() < self._until and self._is_wanted():
                if not select.select([self._listener], [], [], 1)[0]:
                    continue
                if not self._serve(self._listener.accept()[0]):
                    return
        finally:
            self._end()

    def _serve(self, place: socket.socket) -> bool:
        """Whether the JVM is kept after this command."""
        try:
            connection = warm.admit(place, self._about["key"])
        except (AuthenticationError, OSError, EOFError):
            return True
        with connection:
            try:
                wanted = warm.hear(connection, warm.ANSWER_SECONDS)["ask"]
                if wanted != "attach" or not self._has_folders():
                    self._end()
                    warm.tell(connection, ended=True)
                    return False
                warm.tell(connection, **self._open(), pid=self._about["pid"])
                self._wait = float(self._until_left(connection))
            except (OSError, EOFError):
                return False
        self._server.shutdown()
        self._until = time.monotonic() + self._wait
        return self._wait > 0 and self._is_clean()

    def _open(self) -> dict[str, Any]:
        """A gateway for one command: what its Python left behind goes with it."""
        package = self._jvm.org.apache.spark
        self._server = package.api.python.Py4JServer(package.SparkConf())
        self._server.start()
        return {"port": self._server.getListeningPort(), "secret": self._server.secret()}

    def _until_left(self, connection: Connection) -> int:
        """For how long the command wants Spark to be kept.

        Raises:
            EOFError: the command or the JVM is gone.
        """
        ready = select.select([connection, self._watch], [], [])[0]
        if self._watch in ready:
            raise EOFError
        return int(warm.hear(connection, 0)["leave"])

    def _is_clean(self) -> bool:
        """Whether the next command finds Spark as a new one; removes what can be removed."""
        reason = self._remains()
        if reason:
            print(f"{time.strftime('%F %T')} Spark ends: {reason}", flush=True)
        return not reason

    def _remains(self) -> str:
        """What the next command would notice of the last one, and nobody can remove."""
        package = self._jvm.org.apache.spark
        if not self._has_no_children():
            return f"it has child processes, such as Python workers: {self._children()}"
        if added(package.SparkContext.getOrCreate()) != self._about["added"]:
            return "statements have added files or JARs"
        state = package.sql.classic.SparkSession.getDefaultSession().get().sharedState()
        if not state.activeStreamingQueries().isEmpty():
            return "a stream runs"
        state.cacheManager().clearCache()
        state.globalTempViewManager().clear()
        package.sql.delta.DeltaLog.clearCache()
        runtime = self._jvm.java.lang.Runtime.getRuntime()
        runtime.gc()
        used = (runtime.totalMemory() - runtime.freeMemory()) / runtime.maxMemory()
        return f"{used:.0%} of its memory is in use" if used > MOST_OF_HEAP else ""

    def _has_folders(self) -> bool:
        """Whether Spark's temporary folders are there: what tidies them up breaks every shuffle."""
        disk = self._jvm.org.apache.spark.SparkEnv.get().blockManager().diskBlockManager()
        return all(folder.exists() for folder in disk.localDirs())

    def _has_no_children(self) -> bool:
        """Whether the JVM's child processes are gone; some live for a moment."""
        until = time.monotonic() + CHILD_SECONDS
        while any(LOOKUP not in text for text in self._children()):
            if time.monotonic() > until:
                return False
            time.sleep(0.1)
        return True

    def _children(self) -> list[str]:
        """The command lines of the JVM's child processes, without those that have ended."""
        found = self._jvm.java.lang.ProcessHandle.current().children().toList()
        return [
            child.info().commandLine().orElse("") for child in found if not _has_ended(child.pid())
        ]

    def _is_wanted(self) -> bool:
        """Whether the JVM runs and its home is still there."""
        return self._is_alive() and self._is_ours()

    def _is_ours(self) -> bool:
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return False
        return bool(found["key"] == self._about["key"])

    def _is_alive(self) -> bool:
        """A dead process has closed its sockets."""
        return not select.select([self._watch], [], [], 0)[0]

    def _end(self) -> None:
        """Closes the JVM's standard input, which ends it, and waits for that."""
        if self._pipe is None:
            return
        os.close(self._pipe)
        self._pipe = None
        if not select.select([self._watch], [], [], END_SECONDS)[0]:
            os.kill(self._about["pid"], signal.SIGKILL)
            select.select([self._watch], [], [], END_SECONDS)
        if self._is_ours():
            self._path.unlink(missing_ok=True)


def added(context: Any) -> str:
    """Files and JARs that Spark ships; ``context`` is the JVM's SparkContext."""
    found = [context.listJars(), context.listFiles(), context.listArchives()]
    return " ".join(one.toString() for one in found)


def _has_ended(pid: int) -> bool:
    """Whether a process is only a name that its parent has not asked for; False where unknown."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def _gateway(about: dict[str, Any]) -> Any:
    """The JVM by py4j alone: pyspark takes long to import."""
    from py4j.clientserver import ClientServer, JavaParameters, PythonParameters

    return ClientServer(
        java_parameters=JavaParameters(
            port=about["port_of_java"], auth_token=about["secret"], auto_convert=True
        ),
        python_parameters=PythonParameters(port=0, eager_load=False),
    )


def main(arguments: list[str]) -> None:
    path, pipe, listener = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    about = json.load(sys.stdin)
    with socket.socket(fileno=listener) as place:
        Keeper(path, pipe, place, about).run()


if __name__ == "__main__":
    main(sys.argv[1:])
