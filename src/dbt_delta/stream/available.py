"""A model's stream: every micro-batch that there is now, one after the other.

Spark runs a stream in a thread and a session of its own. What writes a batch are macros, which
belong to the thread and session of the model. So each batch is handed over as a global temporary
view, and Spark's thread waits until it is written.
"""

import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt_delta.session import facts
from dbt_delta.stream import sources
from dbt_delta.stream.checkpoint import (
    application,
    finish,
    is_begun,
    note,
    note_select,
    problem,
    version,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery

    from dbt_delta.session.connection import SessionConnection

# What is in an error of Spark or Delta, and the way out; their advice is to delete the checkpoint,
# or to keep a log of schemas.
_WAYS_OUT = (
    (
        ("[DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE]", "sources in the checkpoint offsets"),
        "The model reads another input than its stream, or one that was created anew. Use "
        "--full-refresh.",
    ),
    (
        ("[DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE",),
        "A column of an input was renamed, dropped or given another type, and the stream has not "
        "read all rows from before. Use --full-refresh.",
    ),
)

# Seconds between two looks whether the stream has ended or the command was cancelled.
_LOOK = 0.1


class Ended(DbtRuntimeError):
    """A stream was told to end before it had read all that there is."""


@dataclass
class Watch:
    """What a service (service.py) has to do with the streams of its process.

    ``is_over`` says whether they end after their present batch. ``told`` hears of each commit of a
    batch: the table (schema, name), the rows that it inserted, updated or deleted, and seconds.
    ``ended`` are the tables whose streams ended with more to read.
    """

    ended: set[tuple[str, str]] = field(default_factory=set)
    is_over: Callable[[], bool] = lambda: False
    told: Callable[[tuple[str, str], int, float], None] | None = None


watch = Watch()


@dataclass(frozen=True)
class Kind:
    """How batches become rows of the table.

    ``mode`` is Spark's output mode. What ``takes_latest`` keeps one of several rows of a key: all
    that are there are read in one batch. Delta gives old rows in the order in which files were
    written, by OPTIMIZE too, and would cut batches inside a commit. ``select`` is a digest of the
    SELECT.
    """

    mode: str = "append"
    takes_latest: bool = False
    select: str = ""


def run(
    connection: "SessionConnection",
    sql: str,
    kind: Kind,
    checkpoint: str,
    name: tuple[str, str],
    write: Callable[[str, dict[str, Any]], Any],
) -> int:
    """Writes all batches that a streaming SELECT has now; returns how many were written.

    ``write`` gets the batch as a SELECT, and what its commit says: the stream's ``id`` in Delta's
    transactions, the number of the ``batch``, and ``after`` which version of the table it was
    written. A batch whose number the table ``name`` (schema, name) has had is left out: it was
    written by a run that was killed before Spark noted it.

    Raises:
        Ended: a service ended it while there was more to read.
        DbtRuntimeError: the SELECT reads no stream, or a table that is not Delta's; the table was
            restored or made anew meanwhile.
        DbtDatabaseError: Spark's error, of the stream or of a batch.
    """
    with connection.running():
        at, _ = version(connection.session, name)
        rows = connection.session.sql(sql)
        if not rows.isStreaming:
            raise DbtRuntimeError("it reads no stream: put dbt_delta.stream(..) around an input")
        tables = sources.tables(rows)
        if foreign := [one for one in tables if one[2] != "delta"]:
            schema, table, form = foreign[0]
            raise DbtRuntimeError(
                f"{schema}.{table} is a table of format {form}. Spark leaves out files that come "
                "under an old name or with an old time. Nothing was read. Land them with "
                "dbt_delta.landed_files in an incremental model, and stream its table"
            )
        handed = _Batches(connection.session)
        stream = rows.writeStream.foreachBatch(handed.give).outputMode(kind.mode)
        stream = stream.option("checkpointLocation", checkpoint)
        # One batch only is the one that a run had begun which was killed.
        has_more = kind.takes_latest and is_begun(connection.session, checkpoint)
        how_much = {"once": True} if kind.takes_latest else {"availableNow": True}
        query = stream.trigger(**how_much).start()
    identity, written = application(query.id), 0
    try:
        last = _last(connection, name, identity)
        if last >= 0:
            # Asked before, but not of the version from which it goes on.
            with connection.running():
                why = problem(connection.session, checkpoint, name)
            if why:
                raise DbtRuntimeError(
                    f"{'.'.join(name)}: {why}. Nothing was written. Run it again."
                )
        # Spark keeps nothing of a batch before its rows are read.
        with connection.running():
            note_select(connection.session, checkpoint, kind.select)
        for batch in handed.until_end(query, connection):
            began = time.monotonic()
            with batch.answered():
                if watch.is_over():
                    watch.ended.add(name)
                    raise Ended("the service ended the stream before it had read everything")
                if batch.number <= last:
                    with connection.running():
                        finish(connection.session, checkpoint, batch.view)
                else:
                    at, _ = _version(connection, name, at, identity, last >= 0 or written > 0)
                    about = {"id": identity, "batch": batch.number}
                    write(
                        f"select * from {batch.view}",
                        about if at is None else {**about, "after": at},
                    )
                    written += 1
                    at, committed = _version(connection, name, at, identity)
                    # A batch that changes nothing makes no commit.
                    if committed == batch.number:
                        with connection.running():
                            note(connection.session, checkpoint, batch.number)
                            if watch.told is not None:
                                rows = facts.rows_written(connection.session, *name)
                                watch.told(name, rows or 0, time.monotonic() - began)
    finally:
        handed.refuse()
        query.stop()
    if (error := query.exception()) is not None:
        _fail(connection, error)
    return written + (run(connection, sql, kind, checkpoint, name, write) if has_more else 0)


def _fail(connection: "SessionConnection", error: Exception) -> None:
    """Raises a stream's error, with the way out if its inputs are others."""
    try:
        with connection.running():
            raise error
    except DbtDatabaseError as failure:
        said = failure.msg
        ways_out = [way for texts, way in _WAYS_OUT if any(text in said for text in texts)]
        raise DbtDatabaseError("\n".join([*ways_out, said])) from failure


def _version(
    connection: "SessionConnection",
    name: tuple[str, str],
    since: int | None,
    identity: str,
    has_rows: bool = True,
) -> tuple[int | None, int]:
    """The table's version now, and the stream's last batch since another; see ``version``.

    Raises:
        DbtRuntimeError: rows of the stream may have gone since a version.
    """
    with connection.running():
        try:
            return version(connection.session, name, since, identity, has_rows)
        except LookupError as error:
            said = str(error)
    raise DbtRuntimeError(f"{'.'.join(name)} {said}")


def _last(connection: "SessionConnection", name: tuple[str, str], identity: str) -> int:
    """The number of the last batch of a stream that a table has; -1 if none."""
    with connection.running():
        found = facts.transaction(connection.session, *name, identity)
    return -1 if found is None else found


@dataclass
class _Batch:
    number: int
    view: str
    error: Exception | None = None
    done: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def answered(self) -> Iterator[None]:
        """Lets Spark's thread go on when the block ends, also by an error."""
        try:
            yield
        except BaseException as error:
            self.error = RuntimeError(str(error))
            raise
        finally:
            self.done.set()


class _Batches:
    """The batches of one stream, handed from Spark's thread to another one at a time."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._waiting: queue.Queue[_Batch] = queue.Queue()
        self._is_refusing = False

    def give(self, rows: "DataFrame", number: int) -> None:
        """Called by Spark; returns when the batch is written.

        Raises:
            RuntimeError: it was not, so that Spark does not note it as done.
        """
        view = f"dbt_delta_stream_{uuid.uuid4().hex}"
        batch = _Batch(number, f"global_temp.{view}")
        rows.createOrReplaceGlobalTempView(view)
        try:
            self._waiting.put(batch)
            while not batch.done.wait(_LOOK):
                if self._is_refusing:
                    raise RuntimeError("the model has ended")
            if batch.error is not None:
                raise batch.error
        finally:
            self._session.catalog.dropGlobalTempView(view)

    def until_end(
        self, query: "StreamingQuery", connection: "SessionConnection"
    ) -> Iterator[_Batch]:
        """The batches, until the stream has none left, fails or the command is cancelled."""
        while True:
            try:
                yield self._waiting.get(timeout=_LOOK)
            except queue.Empty:
                connection.refuse_if_cancelled()
                if not query.isActive and self._waiting.empty():
                    return

    def refuse(self) -> None:
        """No batch is taken any more: Spark's thread need not wait."""
        self._is_refusing = True
