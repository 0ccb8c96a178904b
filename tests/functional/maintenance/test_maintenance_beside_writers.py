"""Maintenance beside writers of the same table: neither breaks the other, and no row is lost."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from tests.functional.harness import Project, session
from tests.functional.maintenance.running import operation

MODEL = """
    {{ config(materialized='incremental', unique_key='id', maintenance={'min_small_files': 2}) }}
    select id, {{ var('step') }} as step from range(0, 40, 1, 4)
"""


@contextmanager
def repeated(statement: str, times: int = 10**6) -> Generator[list[int], None, None]:
    """Runs a statement again and again beside the block; counts how often it ended well."""
    done, stop = [0], threading.Event()
    failed: list[Exception] = []

    def loop() -> None:
        own = session().newSession()
        for _ in range(times):
            if stop.is_set():
                return
            try:
                own.sql(statement)
                done[0] += 1
            except Exception as error:
                if "DELTA_CONCURRENT" not in str(error):
                    failed.append(error)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield done
    finally:
        stop.set()
        thread.join()
    assert not failed


def test_a_build_is_not_broken_by_optimize(project: Project) -> None:
    project.write({"models/m.sql": MODEL})
    project.dbt("run", vars={"step": 0})
    table = project.relation("m")
    # A statement of dbt is tried four times: more often than maintain rewrites a table.
    with repeated(f"optimize {table} zorder by (step)", times=3):
        for step in range(1, 4):
            project.dbt("run", vars={"step": step})
    assert [(row["id"], row["step"]) for row in project.rows("m")] == [(n, 3) for n in range(40)]
    operations = [commit["operation"] for commit in project.history("m")]
    assert operations.count("MERGE") == 3


def test_maintain_gives_way_to_a_writer(project: Project) -> None:
    project.write({"models/m.sql": MODEL})
    project.dbt("run", vars={"step": 0})
    table = project.relation("m")
    with repeated(f"update {table} set step = step + 1") as done:
        for _ in range(3):
            maintained = operation(project, "maintain", vars={"step": 0})
            assert "failed:" not in maintained.output
    rows = {row["step"] for row in project.rows("m")}
    assert rows == {done[0]}
