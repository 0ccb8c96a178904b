"""Many dbt threads and many readers on one server: nothing lost, no error.

DBT_DELTA_LOAD_SECONDS=600   for how long (default 180)
"""

import os
import random
import threading
import time

import pytest

from tests.functional.harness import Project
from tests.functional.server.conftest import Server

SECONDS = float(os.environ.get("DBT_DELTA_LOAD_SECONDS", "180"))
THREADS, READERS, MODELS = 16, 50, 24
ROWS = 200
# Seconds between two reads of a reader, at most: without, they leave no time for anybody to write.
PAUSE = 15


class Reader(threading.Thread):
    """Reads random tables again and again: each read is one whole version, never an older one."""

    def __init__(
        self, server: Server, tables: list[str], is_over: threading.Event, number: int
    ) -> None:
        super().__init__(daemon=True)
        self._draw = random.Random(number)
        self.reads = 0
        self.wrong: list[str] = []
        self._server, self._tables, self._is_over = server, tables, is_over
        self._seen = dict.fromkeys(tables, 0)

    def run(self) -> None:
        from dbt_delta.session.thrift import connect

        try:
            # The server closes it: the first close fails for a class that pyspark leaves out.
            cursor = connect("127.0.0.1", self._server.port, "reader").cursor()
            while not self._is_over.is_set() or not self.reads:
                table = self._draw.choice(self._tables)
                cursor.execute(f"select count(*), min(run), max(run) from {table}")
                self._check(table, *cursor.fetchone())
                self._is_over.wait(self._draw.uniform(0, PAUSE))
        except Exception as error:
            self.wrong.append(f"{type(error).__name__}: {str(error)[:3000]}")

    def _check(self, table: str, count: int, first: int, last: int) -> None:
        self.reads += 1
        if count != ROWS or first != last or last < self._seen[table]:
            self.wrong.append(f"{table}: {count} rows of runs {first} to {last}")
        self._seen[table] = last


@pytest.mark.long
@pytest.mark.usefixtures("dbt_on_server")
def test_many_threads_and_readers(server: Server, project: Project) -> None:
    model = """
        {{ config(materialized='incremental', unique_key='id') }}
        select id, {{ var('run') }} as run from range(0, %d)
    """
    project.write({f"models/m{n}.sql": model % ROWS for n in range(MODELS)})
    run = 1
    project.dbt("run", "--target", "thrift", vars={"run": run}, threads=THREADS)
    tables = [f"{project.schema}.m{n}" for n in range(MODELS)]
    is_over = threading.Event()
    readers = [Reader(server, tables, is_over, n) for n in range(READERS)]
    for reader in readers:
        reader.start()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        run += 1
        project.dbt("run", "--target", "thrift", vars={"run": run}, threads=THREADS)
    is_over.set()
    for reader in readers:
        reader.join(60)
    assert [text for reader in readers for text in reader.wrong] == []
    assert all(reader.reads for reader in readers), "a reader still waits"
    print(f"{run} runs of {MODELS} models, {sum(reader.reads for reader in readers)} reads")
    for table in tables:
        found = server.sql(f"select count(*), count(distinct id), min(run) from {table}")
        assert found == [(ROWS, ROWS, run)]
        assert server.version(table) == run - 1
