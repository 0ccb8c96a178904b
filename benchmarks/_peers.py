"""The peers of the incremental benchmark: ours, stock dbt-spark, by hand, and the floor.

Each brings a table up to date with the rows of a SELECT and says what that took.
"""

import statistics
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from benchmarks._gauge import Reading
from benchmarks.session import nodes_wall
from tests.functional import harness

OURS, STOCK, HAND, FLOOR, LOOK = "ours", "stock", "hand", "floor", "look"
# A dbt run of models that do nothing at all but one statement.
ONE_STATEMENT = """
{% materialization one_statement, adapter='spark' -%}
    {% call statement('main') %}{{ sql }}{% endcall %}
    {{- return({'relations': []}) -}}
{%- endmaterialization %}
"""


class Project(harness.Project):
    """A dbt project that measures its runs; ``stock`` ones know nothing of this package."""

    def __init__(
        self, path: Path, home: Path, packages: Path, jvm: int, stock: bool = False
    ) -> None:
        super().__init__(path, home, packages, path.name)
        self._jvm = jvm
        if stock:
            self.write({"packages.yml": None, "macros/materializations.sql": None})
            (path / "dbt_packages").unlink()
            config = path / "dbt_project.yml"
            entries = yaml.safe_load(config.read_text())
            del entries["dispatch"]
            config.write_text(yaml.safe_dump(entries))

    def measure(self, *arguments: str) -> dict[str, Any]:
        """Runs models: seconds and statements from the first node's start to the last one's end.

        Raises:
            AssertionError: the run failed.
        """
        from dbt.cli.main import dbtRunner

        guard = threading.Lock()
        ends: list[Reading] = []
        marks: dict[str, list[tuple[float, str]]] = {}

        def watch(event: Any) -> None:
            name = event.info.name
            if name not in ("NodeStart", "SQLQuery", "NodeFinished"):
                return
            node = event.data.node_info.unique_id
            with guard:
                reading = Reading.now(self._jvm)
                if name != "SQLQuery":
                    ends.append(reading)
                if node:
                    text = _head(event.data.sql) if name == "SQLQuery" else ""
                    marks.setdefault(node, []).append((reading.wall, text))

        started = Reading.now(self._jvm)
        ran = dbtRunner(callbacks=[watch]).invoke(
            self._command(("--quiet", "run", *arguments), None)
        )
        command = started.until(Reading.now(self._jvm))
        results = getattr(ran.result, "results", [])
        assert ran.success, ran.exception or [result.message for result in results]
        return {
            "wall": nodes_wall(results),
            "cpu": ends[0].until(ends[-1])["cpu"],
            "command wall": command["wall"],
            "command cpu": command["cpu"],
            "statements": sum(bool(text) for node in marks.values() for _, text in node),
            "steps": _steps(list(marks.values())),
        }


def _steps(nodes: list[list[tuple[float, str]]]) -> list[tuple[str, float]]:
    """Each statement of a model with the seconds from it to the next one, the mean of all models.

    The first entry is what comes before all. None if the models did not send as many statements.
    """
    if len({len(marks) for marks in nodes}) != 1:
        return []
    spans = [[(text, later - at) for (at, text), (later, _) in pairwise(marks)] for marks in nodes]
    return [
        (place[0][0] or "(compile, connect)", statistics.fmean(seconds for _, seconds in place))
        for place in zip(*spans, strict=True)
    ]


def _head(sql: str) -> str:
    return " ".join(sql.rpartition("*/")[2].split())[:90]


def timed(jvm: int, work: Callable[[], None]) -> dict[str, Any]:
    """Wall and CPU seconds of work outside of dbt."""
    started = Reading.now(jvm)
    work()
    return started.until(Reading.now(jvm))


def merge_by_hand(
    spark: Any, select: str, table: str, keys: tuple[str, ...], bounded: bool, expensive: bool
) -> None:
    """What a careful engineer writes for this one table, knowing its data.

    Null-safe keys; bounds where the batch is a range of keys; an expensive SELECT evaluated once.
    """
    from delta.tables import DeltaTable
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    batch = spark.sql(select)
    if expensive:
        batch = batch.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        on = [f"t.{key} <=> s.{key}" for key in keys]
        if bounded:
            low, high = batch.agg(f.min(keys[0]), f.max(keys[0])).first()
            on.append(f"t.{keys[0]} between {low} and {high}")
        target = DeltaTable.forName(spark, table).alias("t")
        merge = target.merge(batch.alias("s"), " and ".join(on))
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    finally:
        if expensive:
            batch.unpersist()


def append_changes(spark: Any, select: str, table: str, changes: str) -> None:
    """The floor: the SELECT evaluated once, its rows dropped, and those rows appended.

    ``changes`` holds them ready. No engine can do less; this one finds no row to replace.
    """
    spark.sql(select).write.format("noop").mode("overwrite").save()
    spark.sql(f"insert into {table} by name {changes}")
