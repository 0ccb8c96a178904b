"""Maintenance beside writers of the same table: neither breaks the other, and no row is lost."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest

from tests.functional import tables
from tests.functional.harness import Project, session
from tests.functional.maintenance.running import operations

MODEL = """
    {{ config(materialized='incremental', unique_key='id', maintenance={'min_small_files': 2}) }}
    select id, {{ var('step') }} as step from range(0, 40, 1, 4)
"""


@pytest.fixture(scope="module")
def made(new_shared_project: Callable[[str], Project]) -> Project:
    project = new_shared_project("writers")
    project.write({"models/built.sql": MODEL, "models/kept.sql": MODEL})
    project.dbt("run", vars={"step": 0})
    return project


@contextmanager
def repeated(statement: str, times: int = 10**6) -> Generator[list[int], None, None]:
    """Runs a statement again and again beside the block; counts how often it ended well."""
    done, stop = [0], threading.Event()
    failed: list[Exception] = []

    def loop() -> None:
        own = session().newSession()
        for _ in range(times):
            if stop.wait(0.2):
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


def test_a_build_is_not_broken_by_optimize(made: Project) -> None:
    table = made.relation("built")
    # A statement of dbt is tried four times: more often than maintain rewrites a table.
    with repeated(f"optimize {table} zorder by (step)", times=3):
        for step in range(1, 3):
            made.dbt("run", "-s", "built", vars={"step": step})
    assert [(row["id"], row["step"]) for row in made.rows("built")] == [(n, 2) for n in range(40)]
    operations = [commit["operation"] for commit in tables.commits(made, "built")]
    assert operations.count("MERGE") == 2


@pytest.mark.long
def test_maintain_gives_way_to_a_writer(made: Project) -> None:
    table = made.relation("kept")
    with repeated(f"update {table} set step = step + 1") as done:
        twice = [("maintain", {"select": "kept"})] * 2
        maintained = operations(made, *twice, vars={"step": 0})
        assert "failed:" not in maintained.output
    assert done[0], "the writer never wrote"
    rows = {row["step"] for row in made.rows("kept")}
    assert rows == {done[0]}
