"""dbt-spark's connection wrapper over one Spark session."""

import datetime as dt
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.connections import SparkConnectionWrapper
from dbt_common.invocation import get_invocation_id

from dbt_delta.session import errors, spark
from dbt_delta.session.literals import literal
from dbt_delta.session.lock import MetastoreInUse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

logger = AdapterLogger("dbt_delta")


class SessionConnection(SparkConnectionWrapper):
    """A dbt connection with a Spark session of its own, and cursor of itself.

    ``settings`` are the profile's Spark settings; ``connection`` is dbt's record of this
    connection, whose name (the model's) labels the Spark jobs.
    """

    def __init__(self, settings: dict[str, str], connection: Connection) -> None:
        self._connection = connection
        self._group = f"dbt-{uuid.uuid4()}"
        self._result: DataFrame | None = None
        self._rows: list[Row] | None = None
        try:
            self._session = spark.new_session(settings)
        except (MetastoreInUse, ValueError) as error:
            raise FailedToConnectError(str(error)) from None
        except Exception as error:
            raise FailedToConnectError(errors.message(error)) from error

    def cursor(self) -> "SessionConnection":
        self._forget()
        return self

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Runs a statement; a SELECT only once its rows are fetched, or by ``run_unfetched``.

        Raises:
            DbtDatabaseError: whatever Spark refused, in its own words without the traces.
        """
        self._forget()
        if bindings is not None:
            sql = sql % tuple(literal(binding) for binding in bindings)
        sql = sql.strip().removesuffix(";")
        with errors.as_database_error():
            self._label_jobs()
            self._result = self._session.sql(sql)

    def run_unfetched(self) -> None:
        """Evaluates a SELECT that nobody fetches, row by row, keeping nothing."""
        if self._result is None or self._rows is not None:
            return
        with errors.as_database_error():
            if not _is_done(self._result):
                self._result.write.format("noop").mode("overwrite").save()

    def fetchall(self) -> "list[Row]":
        return self._fetch(None)

    def fetchmany(self, size: int) -> "list[Row]":
        return self._fetch(size)

    def fetchone(self) -> "Row | None":
        rows = self._fetch(1)
        return rows[0] if rows else None

    @property
    def description(self) -> Sequence[tuple[Any, ...]]:
        """Column name and Spark type per column, in the shape of the Python DB API."""
        if self._result is None:
            return []
        with errors.as_database_error():
            return [
                (field.name, field.dataType.simpleString(), *[None] * 4, field.nullable)
                for field in self._result.schema.fields
            ]

    def cancel(self) -> None:
        """Stops the statement that runs here, the jobs it has yet to start included."""
        context = self._session.sparkContext._jsc.sc()
        context.cancelJobGroupAndFutureJobs(self._group)

    def close(self) -> None:
        self._forget()

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        logger.debug("Spark has no transactions to roll back")

    def _label_jobs(self) -> None:
        description = f"{self._connection.name} ({get_invocation_id()})"
        self._session.sparkContext.setJobGroup(self._group, description, True)

    def _fetch(self, limit: int | None) -> "list[Row]":
        if self._result is None:
            return []
        with errors.as_database_error():
            if self._rows is None:
                self._rows = self._result.collect() if limit is None else self._result.take(limit)
                self._rows = self._in_session_zone(self._rows)
        return self._rows

    def _in_session_zone(self, rows: "list[Row]") -> "list[Row]":
        """Timestamps as the session's time zone shows them; pyspark gives this machine's."""
        from pyspark.sql import Row
        from pyspark.sql.types import TimestampType

        fields = self._result.schema.fields
        stamps = {i for i, field in enumerate(fields) if isinstance(field.dataType, TimestampType)}
        if not stamps or not rows:
            return rows
        zone = ZoneInfo(self._session.conf.get("spark.sql.session.timeZone"))
        make = Row(*[field.name for field in fields])
        return [
            make(*[_to_zone(v, zone) if i in stamps else v for i, v in enumerate(row)])
            for row in rows
        ]

    def _forget(self) -> None:
        self._result = self._rows = None


def _to_zone(value: dt.datetime | None, zone: ZoneInfo) -> dt.datetime | None:
    return None if value is None else value.astimezone(zone).replace(tzinfo=None)


def _is_done(result: "DataFrame") -> bool:
    """Whether the statement was a command: Spark has run it, its result is a finished table."""
    plan = result._jdf.queryExecution().commandExecuted()
    return plan.nodeName() in ("CommandResult", "LocalRelation")
