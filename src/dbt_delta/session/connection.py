"""dbt-spark's connection wrapper over one Spark session."""

import datetime as dt
import itertools
import os
import re
import threading
import traceback
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import CodeType
from typing import TYPE_CHECKING, Any

import pytz
from dbt.adapters.contracts.connection import Connection
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.connections import SparkConnectionWrapper
from dbt_common.exceptions import DbtDatabaseError
from dbt_common.invocation import get_invocation_id

from dbt_delta.session import errors, facts, formats, retry, spark, store, tags
from dbt_delta.session.literals import as_sent
from dbt_delta.session.lock import MetastoreInUse
from dbt_delta.session.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from dbt_delta.state.plan import Reads

logger = AdapterLogger("dbt_delta")
# How statements begin that never write, after comments.
_QUERY = re.compile(
    retry.LEADING.pattern + r"(?:select|show|desc|describe|explain)\b", re.IGNORECASE
)
# Words without which no other statement writes; a name or a text may have them, too.
_WRITING = re.compile(
    r"\b(?:insert|merge|update|delete|create|drop|alter|truncate|replace|restore|convert|undrop"
    r"|execute|call|load|msck|repair|use)\b",
    re.IGNORECASE,
)
_serial = itertools.count(1)
_labelled = threading.local()
_reading = threading.local()


class NoWriting(DbtDatabaseError):
    """A statement that may write, where nothing may be written."""


@contextmanager
def reading() -> Generator[None, None, None]:
    """Refuses what may write in this thread: Jinja is rendered beside dbt's own rendering of it.

    Raises:
        NoWriting: a statement may write.
    """
    before = getattr(_reading, "is_on", False)
    _reading.is_on = True
    try:
        yield
    finally:
        _reading.is_on = before


class SessionConnection(SparkConnectionWrapper):
    """A dbt connection with its own Spark session; it is its own cursor.

    ``settings`` are the profile's Spark settings; ``connection`` is dbt's record of this
    connection, whose name (the model's) labels the Spark jobs, and Delta's commits.
    """

    def __init__(self, settings: dict[str, str], connection: Connection) -> None:
        self._connection = connection
        # Models with the same name run side by side: the batches of a microbatch model.
        self._serial = next(_serial)
        self._group: str | None = None
        # A profile may set its own commit metadata.
        self._is_tagging = tags.SETTING not in settings
        self._format = formats.asked(settings)
        self._tagged_as = ""
        self._cancelled = threading.Event()
        self._result: DataFrame | None = None
        self._staged = Staged()
        # How often Spark was asked anything through this connection.
        self.work = 0
        # Whether a statement may have written anything.
        self.wrote = False
        try:
            self.session = spark.new_session(settings)
        except (MetastoreInUse, ValueError) as error:
            raise FailedToConnectError(str(error)) from None
        except Exception as error:
            text = errors.message(error)
            if "JAVA_GATEWAY_EXITED" in text:
                text = (
                    "Spark's JVM did not start: it needs Java 17 or 21, and the memory in "
                    f"DBT_DELTA_MEMORY. JAVA_HOME is {os.environ.get('JAVA_HOME')}. {text}"
                )
            raise FailedToConnectError(text) from error

    def cursor(self) -> "SessionConnection":
        self._result = None
        return self

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Runs a statement; a SELECT only once its rows are fetched, or by ``run_unfetched``.

        A statement that lost against another writer of its table runs again if it can; see
            retry.py.

        Raises:
            DbtDatabaseError: Spark's own error without the traces.
        """
        self._result = None
        sql = as_sent(sql, bindings)
        if _WRITING.search(sql) and not _QUERY.match(sql):
            self._note_writing(sql)
        self._staged.note(sql)
        retry.repeatedly(sql, lambda: self._send(sql), self._connection.name, self._cancelled.wait)

    def run_unfetched(self) -> None:
        """Evaluates a SELECT that nobody fetches, row by row, without keeping rows."""
        if self._result is None or _is_done(self._result):
            return
        with self.running():
            self._result.write.format("noop").mode("overwrite").save()

    def run_python(self, code: CodeType) -> None:
        """Runs a compiled Python model with this session as its ``spark``.

        Raises:
            DbtDatabaseError: the error of Spark or of the model, with the line of the model.
        """
        self._note_writing(code.co_filename)
        spark.coded.add(code.co_filename)
        try:
            with self.running():
                # A model may label its jobs itself; the next statement sets its own label.
                _labelled.group = None
                exec(code, {"__name__": "dbt_model", "spark": self.session})
        except DbtDatabaseError as error:
            cause = error.__cause__
            frames = traceback.extract_tb(cause.__traceback__ if cause else None)
            lines = [frame.lineno for frame in frames if frame.filename == code.co_filename]
            if not lines:
                raise
            text = error.msg
            if not text.startswith("["):
                text = f"{type(cause).__name__}: {text}"
            raise DbtDatabaseError(f"{text}\n{code.co_filename}, line {lines[-1]}") from error

    def relation(self, schema: str, name: str) -> dict[str, Any] | None:
        """See ``facts.relation``."""
        with self.running():
            return facts.relation(self.session, schema, name)

    def check_place(self, place: str) -> None:
        """See ``store.check_place``."""
        with self.running():
            store.check_place(self.session, place)

    def state(self, schema: str, name: str) -> str | None:
        """See ``facts.state``."""
        with self.running():
            return facts.state(self.session, schema, name)

    def changed_at(self, schema: str, name: str) -> tuple[int, bool] | None:
        """See ``facts.changed_at``."""
        with self.running():
            return facts.changed_at(self.session, schema, name)

    def listing(self, schemas: list[str]) -> list[dict[str, Any]] | None:
        """See ``facts.listing``."""
        with self.running():
            return facts.listing(self.session, schemas)

    def steady(self, views: Mapping[str, tuple[str, str, int]]) -> list[str]:
        """See ``facts.steady``."""
        with self.running():
            return facts.steady(self.session, views)

    def set_views(self, schema: str, texts: Mapping[str, tuple[str, str]]) -> list[str]:
        """See ``publish.set_views``."""
        from dbt_delta.session import publish

        self._note_writing(f"new texts of views in {schema}")
        with self.running():
            return publish.set_views(self.session, schema, texts)

    def columns(self, sql: str) -> list[dict[str, Any]]:
        """See ``facts.columns``."""
        with self.running():
            return facts.columns(self.session, as_sent(sql, None))

    def reads(self, sql: str) -> "Reads":
        """See ``plan.reads``."""
        from dbt_delta.state import plan

        with self.running():
            return plan.reads(self.session, as_sent(sql, None))

    @contextmanager
    def configured(self, settings: dict[str, str]) -> Generator[None, None, None]:
        """With settings of Spark that are as before afterwards, also after an error."""
        with self.running():
            before = {key: self.session.conf.get(key, None) for key in settings}
            for key, value in settings.items():
                self.session.conf.set(key, value)
        try:
            yield
        finally:
            with suppress(Exception):  # the JVM may be what failed
                for key, value in before.items():
                    if value is None:
                        self.session.conf.unset(key)
                    else:
                        self.session.conf.set(key, value)

    def fetchall(self) -> "list[Row]":
        return self._fetch(None)

    def fetchmany(self, size: int) -> "list[Row]":
        """The first ``size`` rows; Spark computes and sends only these."""
        return self._fetch(size)

    def fetchone(self) -> "Row | None":
        """The first row."""
        rows = self._fetch(1)
        return rows[0] if rows else None

    @property
    def description(self) -> Sequence[tuple[Any, ...]]:
        """Column name and Spark type per column, in the shape of the Python DB API."""
        if self._result is None:
            return []
        with self.running():
            return [
                (field.name, field.dataType.simpleString(), *[None] * 4, field.nullable)
                for field in self._result.schema.fields
            ]

    def cancel(self) -> None:
        """Stops the statement that runs here, with the jobs that it has not started yet.

        Called from another thread. Further statements of this connection are refused, because dbt
            would continue with the next one of the model.
        """
        self._cancelled.set()
        group = self._group
        if group is None:
            return
        try:
            self.session.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(group)
        except Exception as error:
            logger.debug(f"Cancel of {group}: {error}")

    def close(self) -> None:
        """Releases the session: the JVM keeps it while Python has a reference."""
        self._staged.drop(self.execute)
        self._result = self._group = None
        self.__dict__.pop("session", None)

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        logger.debug("Spark has no transactions to roll back")

    def _note_writing(self, what: str) -> None:
        if getattr(_reading, "is_on", False):
            raise NoWriting(f"its Jinja may write: {retry.LEADING.sub('', what, 1)}")
        self.wrote = True

    def _send(self, sql: str) -> None:
        with self.running():
            formats.check_statement(self._format, sql)
            self._result = self.session.sql(sql)

    @contextmanager
    def running(self) -> Generator[None, None, None]:
        """Work in Spark for this connection: jobs get its label, errors become dbt's."""
        self.refuse_if_cancelled()
        self.work += 1
        spark.in_flight.add(here := object())
        try:
            with errors.as_database_error():
                self._label_jobs()
                self._tag_commits()
                # A cancel between the check and the label found no group to cancel.
                self.refuse_if_cancelled()
                yield
        except DbtDatabaseError as error:
            self.refuse_if_cancelled(error)
            raise
        finally:
            spark.in_flight.discard(here)

    def refuse_if_cancelled(self, cause: Exception | None = None) -> None:
        """Raises DbtDatabaseError if the command was cancelled."""
        if self._cancelled.is_set():
            raise DbtDatabaseError("Cancelled") from cause

    def _label_jobs(self) -> None:
        name, run = self._connection.name, get_invocation_id()
        self._group = f"{name} {run} {self._serial}"
        # The label belongs to the thread until another is set.
        if getattr(_labelled, "group", None) != self._group:
            self.session.sparkContext.setJobGroup(self._group, f"{name} ({run})", True)
            _labelled.group = self._group

    def _tag_commits(self) -> None:
        name = self._connection.name
        if self._is_tagging and name != self._tagged_as:
            tag = tags.tag(name)
            self.session.conf.set(tags.SETTING, tag)
            if self._format == "iceberg":
                self.session.conf.set(tags.ICEBERG, tag)
            self._tagged_as = name

    def _fetch(self, limit: int | None) -> "list[Row]":
        if self._result is None:
            return []
        with self.running():
            rows = self._result.collect() if limit is None else self._result.take(limit)
            return self._in_session_zone(rows)

    def _in_session_zone(self, rows: "list[Row]") -> "list[Row]":
        """Timestamps in the session's time zone; pyspark returns them in this machine's."""
        from pyspark.sql import Row
        from pyspark.sql.types import TimestampType

        fields = self._result.schema.fields
        stamps = {i for i, field in enumerate(fields) if isinstance(field.dataType, TimestampType)}
        if not stamps or not rows:
            return rows
        zone = _zone(self.session.conf.get("spark.sql.session.timeZone"))
        make = Row(*[field.name for field in fields])
        return [
            make(*[_to_zone(v, zone) if i in stamps else v for i, v in enumerate(row)])
            for row in rows
        ]


def _to_zone(value: dt.datetime | None, zone: dt.tzinfo) -> dt.datetime | None:
    return None if value is None else value.astimezone(zone).replace(tzinfo=None)


def _zone(name: str) -> dt.tzinfo:
    """A Java time zone: a region, UTC, or an offset such as +02:00 or GMT+2."""
    offset = re.fullmatch(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?(?::?(\d\d))?", name)
    if offset:
        sign, *parts = offset.groups()
        hours, minutes, seconds = (int(part or 0) for part in parts)
        shift = dt.timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return dt.timezone(-shift if sign == "-" else shift)
    # pytz comes with dbt and brings its data; zoneinfo needs the system's.
    return pytz.utc if name == "Z" else pytz.timezone(name)


def _is_done(result: "DataFrame") -> bool:
    """Whether the statement was a command: Spark has run it, and its result is complete."""
    plan = result._jdf.queryExecution().commandExecuted()
    return plan.nodeName() in ("CommandResult", "LocalRelation")
