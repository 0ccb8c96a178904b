"""The table in which runs record what their nodes had as inputs: one row per node and run.

Runs append, so that several processes never wait for each other; now and then one of them keeps
the newest row of each node only.
"""

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

from dbt_delta.session.errors import first_line
from dbt_delta.session.facts import quoted_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "dbt_delta_state"
FORMAT = 1
# Files to read at the start of a run.
MOST_RUNS = 20
_COLUMNS = "project string, node string, run string, at double, format int, record string"

logger = AdapterLogger("dbt_delta")


@dataclass
class Records:
    """What earlier runs recorded: the newest of each node. ``problem`` says why nothing is."""

    by_node: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_there: bool = False
    runs: int = 0
    latest: float = 0.0
    problem: str = ""


class StateTable:
    """The table in a schema, for one project of those that build there."""

    def __init__(self, spark: "SparkSession", schema: str, project: str) -> None:
        self._spark = spark
        self._project = project
        self._schema = schema
        self.name = f"{quoted_name(schema)}.{quoted_name(NAME)}"

    def read(self) -> Records:
        """All records; a damaged one counts as none. Never fails."""
        found = Records()
        try:
            if not self._spark.catalog.tableExists(f"{quoted_name(self._schema)}.{NAME}"):
                return found
            found.is_there = True
            rows = self._spark.sql(
                f"select project, node, run, at, format, record from {self.name}"
            ).collect()
        except Exception as error:
            found.problem = first_line(error)
            return found
        if any(row.format is None or row.format > FORMAT for row in rows):
            found.problem = "a newer version of dbt_delta wrote it"
            return found
        found.runs = len({row.run for row in rows})
        found.latest = max((row.at or 0.0 for row in rows), default=0.0)
        for row in sorted(rows, key=lambda row: row.at or 0.0):
            if row.project == self._project:
                record = _parsed(row.record)
                found.by_node[row.node] = {**record, "run": row.run} if record else {}
        found.by_node = {node: record for node, record in found.by_node.items() if record}
        return found

    def write(self, run: str, records: dict[str, dict[str, Any]], known: Records) -> None:
        """Adds what a run did in one commit."""
        # Later than all that was read, whatever the clock says.
        at = max(time.time(), known.latest + 0.001)
        rows = [
            (self._project, node, run, at, FORMAT, json.dumps(record))
            for node, record in records.items()
        ]
        if not known.is_there:
            # With schemas of their own for all models, dbt makes none of the target's name.
            self._spark.sql(f"create schema if not exists {quoted_name(self._schema)}")
        frame = self._spark.createDataFrame(rows, _COLUMNS).coalesce(1)
        if known.runs >= MOST_RUNS and self._rewrite(frame):
            return
        frame.write.format("delta").mode("append").saveAsTable(self.name)

    def _rewrite(self, frame: Any) -> bool:
        """Whether the table could be replaced by its newest rows; not beside another writer."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        newest = Window.partitionBy("project", "node").orderBy(f.desc("at"))
        try:
            rows = self._spark.table(self.name).unionByName(frame)
            rows = rows.withColumn("_rank", f.row_number().over(newest)).where("_rank = 1")
            rows = rows.drop("_rank").coalesce(1)
            rows.write.format("delta").mode("overwrite").saveAsTable(self.name)
        except Exception as error:
            logger.debug(f"{self.name} keeps its older rows: {first_line(error)}")
            return False
        return True


def _parsed(text: str | None) -> dict[str, Any] | None:
    try:
        record = json.loads(text or "")
        is_whole = {"status", "code", "config", "unsure", "own", "reads", "at"} <= set(record)
    except (ValueError, TypeError):
        return None
    # Before there were quarantines in it, ``own`` was one fact.
    return record if is_whole and isinstance(record["own"], list) else None
