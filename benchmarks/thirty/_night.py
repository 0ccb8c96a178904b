"""Nights of one peer in a process of their own: what a nightly job does, then what it left.

``python -m benchmarks.thirty._night REQUEST ANSWER``: JSON files, of what the classes of these
names hold; a line of its input asks for a night, and a line of its output says that it is over.
What readers would see is written as Parquet after the clock has stopped.
"""

import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._gauge import Reading
from dbt_delta.night import GOOD


@dataclass
class Request:
    """What a night does.

    ``exports`` are SELECTs by name, ``schema`` has the tables whose files count.
    """

    project: str
    commands: list[list[str]]
    night: int
    exports: dict[str, str]
    exported: str
    schema: str
    kill_at: int | None = None


@dataclass
class Answer:
    """Seconds, bytes and what failed; ``killed`` ones have no tables.

    ``wall`` and ``cpu`` are seconds of all commands with the start of Spark, ``read`` and
    ``written`` bytes handed to the kernel, ``memory`` the most bytes that the JVM had resident.
    """

    wall: float = 0
    cpu: float = 0
    read: int = 0
    written: int = 0
    memory: int = 0
    statements: int = 0
    commands: list[float] = field(default_factory=list)
    nodes: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    tables: dict[str, dict[str, int]] = field(default_factory=dict)
    killed: bool = False


class Night:
    """Runs a request; ``finish`` is where its answer goes."""

    def __init__(self, request: Request, answer: Path) -> None:
        self.request = request
        self.answer = Answer()
        self._path = answer
        self._started = time.monotonic()
        self._before = _meters()

    def run(self) -> None:
        for command in self.request.commands:
            self._dbt(command)
        self._read_meters()
        spark = _spark()
        for name, query in self.request.exports.items():
            self._export(spark, name, query)
        for row in spark.sql(f"show tables in {self.request.schema}").collect():
            if not row.isTemporary:
                self._look(spark, f"{self.request.schema}.{row.tableName}")
        self.finish()

    def count(self, *_: Any) -> None:
        """Counts a statement, and is where a killed job ends: nothing after it happens."""
        self.answer.statements += 1
        if self.answer.statements == self.request.kill_at:
            self._read_meters()
            self.answer.killed = True
            self.finish()
            for pid in (_jvm(), os.getpid()):
                os.kill(pid or 0, signal.SIGKILL)

    def finish(self) -> None:
        self._path.write_text(json.dumps(asdict(self.answer)))

    def _dbt(self, command: list[str]) -> None:
        from dbt.cli.main import dbtRunner

        folder = self.request.project
        began = time.monotonic()
        ran = dbtRunner(callbacks=[self._watch]).invoke(
            ["--quiet", *command, "--project-dir", folder, "--profiles-dir", folder]
        )
        self.answer.commands.append(time.monotonic() - began)
        for one in getattr(ran.result, "results", None) or []:
            if getattr(one, "node", None) is None:
                continue
            self.answer.nodes[one.node.unique_id] = one.execution_time
            if str(one.status) not in GOOD:
                self.answer.failed[one.node.unique_id] = f"{one.status}: {one.message}"[:1000]
        if not ran.success and ran.exception:
            self.answer.failed[" ".join(command)] = str(ran.exception)[:1000]

    def _watch(self, event: Any) -> None:
        if event.info.name == "SQLQuery":
            self.count()

    def _read_meters(self) -> None:
        self.answer.wall = time.monotonic() - self._started
        for name, value in _meters().items():
            setattr(self.answer, name, value - self._before.get(name, 0))
        self.answer.memory = _numbers(Path(f"/proc/{_jvm()}/status"))["VmHWM"] * 1024

    def _export(self, spark: Any, name: str, query: str) -> None:
        try:
            rows = spark.sql(query)
        except Exception as error:
            print(f"{name} is not there: {error}")
            return
        rows.coalesce(1).write.mode("overwrite").parquet(f"{self.request.exported}/{name}")

    def _look(self, spark: Any, table: str) -> None:
        try:
            detail = spark.sql(f"describe detail {table}").first().asDict()
            version = spark.sql(f"describe history {table} limit 1").first().version
        except Exception as error:
            print(f"{table} is no table: {error}")
            return
        self.answer.tables[table] = {
            "version": version,
            "live": detail["sizeInBytes"],
            "files": detail["numFiles"],
        }


def _spark() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate().newSession()


def _jvm() -> int | None:
    from pyspark import SparkContext

    return SparkContext._gateway.proc.pid if SparkContext._gateway else None


def _meters() -> dict[str, float]:
    """CPU seconds and bytes so far; none of them before Spark has started."""
    jvm = _jvm()
    if jvm is None:
        return {}
    files = [_numbers(Path(f"/proc/{pid}/io")) for pid in ("self", jvm)]
    return {
        "cpu": Reading.now(jvm).cpu,
        "read": sum(file["rchar"] for file in files),
        "written": sum(file["wchar"] for file in files),
    }


def _numbers(path: Path) -> dict[str, int]:
    """Numbers by name of a file of /proc."""
    pairs = (line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
    return {
        name: int(value.split()[0])
        for name, value in pairs
        if value.split() and value.split()[0].isdigit()
    }


if __name__ == "__main__":
    asked, answered = map(Path, sys.argv[1:])
    # dbt writes to the console, too: what says that a night is over has a pipe of its own.
    over = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for _ in sys.stdin:
        Night(Request(**json.loads(asked.read_text())), answered).run()
        print("over", file=over, flush=True)
