"""The checkpoints of streams, beside the tables of their schema, and whether a table fits to one.

Spark's checkpoint says which batches were planned, and the table which it has. Either may have come
from a copy, older than the other: then rows would be left out silently.
"""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from dbt_delta.session import facts, folders
from dbt_delta.state import log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A folder of ours. The name of its empty file is the number of the last batch that the table has.
# A kill cannot leave it with another number.
_NOTE = "dbt_delta_written"
# Another one. The name of its empty file is the digest of the SELECT that the stream has.
_SELECT = "dbt_delta_select"
# What became of a table while its stream was written, and the way out.
_CHANGED = "was restored, dropped or made anew while its stream was written"
_RUN_AGAIN = f"{_CHANGED}. Nothing more was written. Run the model again."
_HAS_BOTH = f"{_CHANGED}, and has rows of before and since. Use --full-refresh."


def place(spark: "SparkSession", schema: str, name: str) -> str:
    """The folder of the checkpoints of a model's streams."""
    return f"{folders.of_schema(spark, schema)}/_dbt_delta_streams/{name}"


def states(spark: "SparkSession", schema: str, name: str) -> list[str]:
    """The folders in which a model's streams keep rows of groups or joins."""
    if not spark.catalog.databaseExists(facts.quoted_name(schema)):
        return []
    system, path = folders.open_path(spark, place(spark, schema, name))
    found = system.listStatus(path) if system.exists(path) else []
    paths = [f"{status.getPath().toString()}/state" for status in found]
    return [one for one in paths if _exists(spark, one)]


def problem(spark: "SparkSession", checkpoint: str, name: tuple[str, str], select: str = "") -> str:
    """Why a stream cannot go on with the table ``name`` (schema, name); empty if it can.

    Args:
        select: the digest of its SELECT, if the stream is not to go on with what it keeps of groups
            or joins by another one.
    """
    about = text(spark, f"{checkpoint}/metadata")
    if about is None:
        return "the checkpoint of its stream is gone"
    written = facts.transaction(spark, *name, application(json.loads(about)["id"]))
    last = -1 if written is None else written
    # Of each batch Spark notes what it reads before it is written.
    if last > _newest(spark, f"{checkpoint}/offsets"):
        return "the checkpoint of its stream is older than the last batch that it has"
    if last < _newest(spark, f"{checkpoint}/{_NOTE}"):
        return "it lacks batches that its stream has written"
    if _is_restored(*_opened(spark, name)):
        return "it was restored to a version before the last batch of its stream"
    kept = _names(spark, f"{checkpoint}/{_SELECT}")
    if select and kept and select not in kept and _exists(spark, f"{checkpoint}/state"):
        return "its SELECT was another one for the groups or joins that its stream keeps"
    return ""


def is_begun(spark: "SparkSession", checkpoint: str) -> bool:
    """Whether a batch was planned with it that Spark has not noted as done."""
    return _newest(spark, f"{checkpoint}/offsets") > _newest(spark, f"{checkpoint}/commits")


def restored_input(
    spark: "SparkSession", checkpoint: str, tables: Iterable[tuple[str, str, str]]
) -> str:
    """Which input a RESTORE has put back files of, and removed none, since a stream has read it.

    Delta takes the rows of such files for new ones. Empty if there is none.

    Args:
        tables: those that the stream reads, as ``sources.tables`` returns them.
    """
    read = dict(_read_before(spark, checkpoint))
    for schema, name, _ in tables if read else ():
        snapshot = _snapshot(spark, (schema, name))
        opened, newest = log.open_log(spark, facts.place_of(snapshot)), int(snapshot.version())
        for number in range(read.get(snapshot.metadata().id(), newest + 1), newest + 1):
            info = log.info_of(opened, number)
            metrics = info.get("operationMetrics") or {}
            # Without metrics a commit does not say what it did.
            back = int(metrics.get("numRestoredFiles", 1))
            gone = int(metrics.get("numRemovedFiles", 0))
            # Of a commit that also removes files Spark says so, or leaves it out.
            if info.get("operation") == "RESTORE" and back and not gone:
                return (
                    f"{schema}.{name} was restored by its version {number}, after the stream had "
                    "read it"
                )
    return ""


def _read_before(spark: "SparkSession", checkpoint: str) -> Iterator[tuple[str, int]]:
    """By the id of an input: the first version that a stream has not planned to read."""
    newest = _newest(spark, f"{checkpoint}/offsets")
    for line in (text(spark, f"{checkpoint}/offsets/{newest}") or "").splitlines():
        if line.startswith("{"):
            offset = json.loads(line)
            if "reservoirId" in offset:
                # A table is read whole first, as of its version then.
                is_whole = bool(offset.get("isStartingVersion"))
                yield offset["reservoirId"], int(offset["reservoirVersion"]) + is_whole


def version(
    spark: "SparkSession",
    name: tuple[str, str],
    since: int | None = None,
    stream: str = "",
    has_rows: bool = True,
) -> tuple[int | None, int]:
    """The newest version of a table, and the last batch that a stream has written since another.

    The version is None if it is no Delta table, or there is none; the batch is -1 if there is none.

    Args:
        since: a version that it had.
        stream: what has written it since then, as of ``application``.
        has_rows: whether the table has rows of it, beside which those of another stream must not
            be.

    Raises:
        LookupError: others have restored it since then, or made it anew, or written rows of another
            stream of the model; says what to do. Delta keeps the number of the last batch, but the
            rows may be gone.
    """
    from pyspark.errors import AnalysisException

    try:
        opened, newest = _opened(spark, name)
    except (AnalysisException, LookupError):
        if since is None:
            return None, -1
        raise LookupError(_RUN_AGAIN) from None
    if not stream:
        return newest, -1
    batch, is_older = -1, since is not None and newest < since
    for number in range(newest, -1 if since is None or is_older else since, -1):
        info = log.info_of(opened, number)
        written = _stream_of(info)
        if written.get("id") == stream:
            batch = max(batch, written["batch"])
            if _is_anew(info):
                return newest, batch
        elif _is_anew(info) or info.get("operation") == "RESTORE":
            raise LookupError(_HAS_BOTH if _is_anew(info) and batch >= 0 else _RUN_AGAIN)
        elif written and has_rows:
            raise LookupError(_HAS_BOTH)
    if is_older:
        raise LookupError(_RUN_AGAIN)
    return newest, batch


def _is_restored(opened: log.Log, newest: int) -> bool:
    """Whether a table was restored after the last batch of its stream, or while that was written.

    A batch says after which version it was written. A batch of another stream is like a RESTORE.
    """
    after: int | None = None
    stream: str | None = None
    for number in range(newest, -1, -1):
        info = log.info_of(opened, number)
        # The log has been cleaned up before.
        if not info or (after is not None and number <= after):
            return False
        if info.get("operation") == "RESTORE":
            return True
        if _is_anew(info):
            return after is not None
        written = _stream_of(info)
        if after is None and written:
            after, stream = written.get("after"), written.get("id")
            if after is None:
                return False
        elif written and written.get("id") != stream:
            return True
    return False


def _opened(spark: "SparkSession", name: tuple[str, str]) -> tuple[log.Log, int]:
    """The log of a Delta table, and its newest version."""
    snapshot = _snapshot(spark, name)
    return log.open_log(spark, facts.place_of(snapshot)), int(snapshot.version())


def _snapshot(spark: "SparkSession", name: tuple[str, str]) -> Any:
    """The newest snapshot of a Delta table."""
    found = facts.delta_table(spark, ".".join(map(facts.quoted_name, name)))
    if found is None:
        raise LookupError(f"{name} is no Delta table")
    return found[1]


def _is_anew(info: dict[str, Any]) -> bool:
    return log.is_anew(info) or str(info.get("operation")).startswith(("CREATE", "CLONE"))


def _stream_of(info: dict[str, Any]) -> dict[str, Any]:
    """What a commit says of the batch of a stream that it has written; empty of others."""
    found = log.metadata_of(info).get("dbt_stream")
    return found if isinstance(found, dict) else {}


def application(identity: str) -> str:
    """The name of a stream in Delta's transactions."""
    return f"dbt_delta_stream_{identity}"


def note(spark: "SparkSession", checkpoint: str, number: int) -> None:
    """Keeps the number of the last batch that the table has."""
    _write_name(spark, f"{checkpoint}/{_NOTE}", str(number))


def note_select(spark: "SparkSession", checkpoint: str, select: str) -> None:
    """Keeps the digest of the SELECT that the stream has from now on."""
    if select and _names(spark, f"{checkpoint}/{_SELECT}") != [select]:
        _write_name(spark, f"{checkpoint}/{_SELECT}", select)


def finish(spark: "SparkSession", checkpoint: str, batch: str) -> None:
    """Writes what Spark keeps of groups or joins after a batch (a view) that the table has.

    Spark writes it while the rows are read, looks whether it did, and fails if not.
    """
    if _exists(spark, f"{checkpoint}/state"):
        spark.table(batch).write.format("noop").mode("overwrite").save()


def keep(spark: "SparkSession", folder: str, kept: str) -> None:
    """Removes all but one of what is in a folder: checkpoints of earlier streams, earlier notes."""
    system, path = folders.open_path(spark, folder)
    if not system.exists(path):
        return
    for status in system.listStatus(path):
        if status.getPath().getName() != kept:
            system.delete(status.getPath(), True)


def _newest(spark: "SparkSession", folder: str) -> int:
    """The largest number that is the name of a file in a folder; -1 if there is none."""
    names = _names(spark, folder)
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def _names(spark: "SparkSession", folder: str) -> list[str]:
    """The names of what is in a folder, if there is one."""
    system, path = folders.open_path(spark, folder)
    found = system.listStatus(path) if system.exists(path) else []
    return [status.getPath().getName() for status in found]


def _exists(spark: "SparkSession", place: str) -> bool:
    system, path = folders.open_path(spark, place)
    return bool(system.exists(path))


def _write_name(spark: "SparkSession", folder: str, name: str) -> None:
    """Makes an empty file the only one of a folder."""
    system, path = folders.open_path(spark, f"{folder}/{name}")
    system.create(path, True).close()
    keep(spark, folder, name)


def text(spark: "SparkSession", path: str) -> str | None:
    """The text of a small file; None if there is none."""
    system, place = folders.open_path(spark, path)
    if not system.exists(place):
        return None
    return folders.read(spark._jvm, system, place).decode(errors="replace")
