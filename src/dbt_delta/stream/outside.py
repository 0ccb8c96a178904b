"""Writers for PySpark outside dbt: each micro-batch, or each run of a job, is written once.

Delta skips a transaction (``txnAppId``, ``txnVersion``) that a table has. Alone that loses rows: a
new checkpoint counts from 0 again, and after RESTORE the table keeps the number without the rows.
So a transaction has the name of its checkpoint or run, its commit says which offsets were written,
and what does not follow from what the table has is refused.
"""

import hashlib
import json
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt_delta.session import errors, facts
from dbt_delta.session.retry import ATTEMPTS, delay, is_conflict
from dbt_delta.state import log
from dbt_delta.stream import checkpoint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# In the user metadata of a commit: what it has written.
_TAG = "dbt_delta_writer"
# Another try of the same transaction was faster.
_SAME = "[DELTA_CONCURRENT_TRANSACTION"
_OTHERS = re.compile(r"map<|\bvariant\b|\bcollate\b|\bgeo(metry|graphy)\b", re.IGNORECASE)
# What a commit's tag must have in common with the rows that are looked for.
_OF_WRITER, _OF_RUN = ("writer", "checkpoint"), ("run",)
_ANEW = "Start the stream with a new checkpoint and, without a unique_key, a new table."


class WriteRefused(Exception):
    """A write that could lose, double or mix up rows. The table is as before."""


def idempotent_writer(
    table: str,
    *,
    unique_key: str | Sequence[str] = (),
    latest_by: str | None = None,
    name: str = "stream",
    first: int = 0,
) -> Callable[["DataFrame", int], None]:
    """A function for ``foreachBatch`` that writes each micro-batch to a Delta table once.

    ::

        rows.writeStream.foreachBatch(idempotent_writer("shop.orders", unique_key="id"))
            .option("checkpointLocation", "/lake/checkpoints/orders").start()

    Args:
        table: its name, or ``delta.`/path` ``. It must exist, with the columns of the rows.
        unique_key: rows are merged by these columns. Without it they are appended.
        latest_by: of several rows of a key the one with the largest value is written, and no row of
            the table is replaced by one with a smaller value.
        name: of the stream, among those that write to the table.
        first: the number of the first micro-batch, for a checkpoint that another writer has used.

    The function raises:
        WriteRefused: the micro-batch does not follow the last one that the table has, the table has
            micro-batches of another checkpoint and there is no key, or the rows do not fit.
    """
    target = _Target(table, _names(unique_key), latest_by)

    def write(rows: "DataFrame", number: int) -> None:
        spark = rows.sparkSession
        identity, attempt, offsets = _planned(spark, number)
        prefix = f"dbt_delta_writer_{name}_"
        tag = {"writer": name, "checkpoint": identity, "batch": number, "offsets": offsets}

        def transaction(snapshot: Any) -> _Transaction | None:
            last = facts.transaction_of(snapshot, prefix + identity)
            problem = batch_problem(
                tag,
                last,
                None if last is None else _standing(spark, snapshot, table, tag, _OF_WRITER),
                has_others=last is None and _has_others(snapshot, prefix, identity),
                has_key=bool(target.keys),
                first=first,
            )
            if problem:
                raise WriteRefused(f"{table}, stream {name}, micro-batch {number}: {problem}")
            return None if last == number else _Transaction(prefix + identity, number, tag)

        def problem(snapshot: Any) -> str:
            if number == first and not target.keys and _has_others(snapshot, prefix, identity):
                return "another checkpoint of the stream began: both may have written the same rows"
            return ""

        found = _snapshot(spark, table)
        key = (found[1].metadata().id(), prefix + identity)
        with _called_once(table, key, (attempt, number)):
            if not _once(rows, target, found, transaction, problem):
                # Spark keeps groups and joins of a micro-batch while its rows are read.
                rows.write.format("noop").mode("overwrite").save()

    return write


def idempotent_write(
    rows: "DataFrame",
    table: str,
    *,
    run: str,
    unique_key: str | Sequence[str] = (),
    latest_by: str | None = None,
) -> bool:
    """Writes the rows of a job's run to a Delta table; a second try of the run writes nothing.

    Args:
        run: the run among all that write to the table, as a scheduler's id or the date it loads.
        table, unique_key, latest_by: as for ``idempotent_writer``.

    Returns:
        Whether this call wrote them; False if an earlier try has.

    Raises:
        WriteRefused: the rows do not fit, or Delta's log cannot tell whether the table has them.
    """
    if not run or not isinstance(run, str):
        raise WriteRefused(
            f"{table}: run is {run!r}. Name each run by a text, so that a second try is known."
        )
    application, tag = f"dbt_delta_run_{run}", {"run": run}

    def transaction(snapshot: Any) -> _Transaction | None:
        last = facts.transaction_of(snapshot, application)
        if last is None:
            return _Transaction(application, 0, tag)
        standing = _standing(rows.sparkSession, snapshot, table, tag, _OF_RUN)
        # Restored to a version before it, or replaced: the rows are gone, Delta keeps the number.
        return _Transaction(application, last + 1, tag) if standing is None else None

    target = _Target(table, _names(unique_key), latest_by)
    return _once(rows, target, _snapshot(rows.sparkSession, table), transaction)


@dataclass(frozen=True)
class _Transaction:
    """What Delta keeps with a commit, and what the commit's metadata says."""

    application: str
    version: int
    tag: dict[str, Any]


@dataclass(frozen=True)
class _Target:
    table: str
    keys: tuple[str, ...]
    latest_by: str | None


def batch_problem(
    tag: dict[str, Any],
    last: int | None,
    standing: dict[str, Any] | None,
    *,
    has_others: bool,
    has_key: bool,
    first: int,
) -> str:
    """Why a micro-batch can neither be written nor be taken as written; empty if it can.

    Args:
        tag: the micro-batch: ``batch`` is its number, ``offsets`` a digest of what it reads.
        last: the number of the last one in the table's transactions; None without one.
        standing: the tag of the last one whose rows the table has, as ``_standing`` returns it.
        has_others: whether the table has micro-batches of this stream from another checkpoint.
    """
    number = tag["batch"]
    if last is None:
        if has_others and not has_key:
            return (
                "the table has micro-batches that the stream wrote with another checkpoint. To "
                "append would repeat what both read. Use that checkpoint, a unique_key, or another "
                "name if the stream is another one."
            )
        return (
            ""
            if number == first
            else (
                f"the table has none of this checkpoint before it, and the first one is {first}: "
                f"rows are missing. {_ANEW}"
            )
        )
    held = -1 if standing is None else standing.get("batch", last)
    if held < last:
        return (
            f"the table was restored to a version before micro-batch {last}, or replaced. {_ANEW}"
        )
    if number > last + 1:
        return f"the last one that the table has is {last}: rows are missing. {_ANEW}"
    if number < last or (number == last and (standing or {}).get("offsets") != tag["offsets"]):
        return (
            f"the table has micro-batch {last} with other rows: the checkpoint is a copy of "
            "before. " + _ANEW
        )
    return ""


def rows_problem(
    given: Sequence[tuple[str, str]], columns: Sequence[dict[str, Any]], target: _Target
) -> str:
    """Why rows do not fit to a table; empty if they do.

    Args:
        given: names and types of the rows' columns.
        columns: the table's, as ``facts.columns_of`` returns them.
    """
    has = {name.lower(): kind for name, kind in given}
    wants = {one["name"].lower(): one for one in columns}
    if len(has) < len(given):
        return f"columns of the rows have equal names: {_listed(name for name, _ in given)}"
    if extra := [name for name, _ in given if name.lower() not in wants]:
        return f"the rows have columns that the table lacks: {_listed(extra)}"
    missing = [c["name"] for c in columns if c["name"].lower() not in has and not c["is_generated"]]
    if missing:
        return f"the rows lack columns of the table: {_listed(missing)}"
    for name, kind in given:
        wanted = wants[name.lower()]["type"]
        if kind.lower() != wanted.lower():
            return f"column {name} is {kind}, and the table's is {wanted}: cast it"
    for name in (*target.keys, *([target.latest_by] if target.latest_by else [])):
        if name.lower() not in has:
            return f"there is no column {name}. Columns: {_listed(n for n, _ in given)}"
    for name in target.keys:
        if not _is_comparable(has[name.lower()]):
            return f"unique_key {name} is {has[name.lower()]}, whose values Spark cannot compare"
    if target.latest_by and not target.keys:
        return "latest_by needs a unique_key"
    return ""


def source_sql(view: str, columns: Sequence[dict[str, Any]], target: _Target) -> str:
    """The rows to write: each once, and of each key the latest ones. Columns are the table's."""
    names = ", ".join(map(_written, columns))
    if not target.keys:
        return f"select {names} from {view}"
    is_plain = all(_is_comparable(one["type"]) for one in columns)
    sql = f"select {'distinct ' if is_plain else ''}{names} from {view}"
    if not target.latest_by:
        return sql
    names = ", ".join(facts.quoted_name(one["name"]) for one in columns)
    keys = ", ".join(map(facts.quoted_name, target.keys))
    order = f"{facts.quoted_name(target.latest_by)} desc nulls last"
    rank = f"rank() over (partition by {keys} order by {order}) as __dbt_delta_rank"
    return f"select {names} from (select *, {rank} from ({sql})) where __dbt_delta_rank = 1"


def merge_sql(table: str, source: str, columns: Sequence[dict[str, Any]], target: _Target) -> str:
    """Writes rows by their keys; what is unchanged, or newer in the table, is not updated."""
    names = [facts.quoted_name(one["name"]) for one in columns]
    keys = {name.lower() for name in target.keys}
    same = [
        f"t.{name} <=> s.{name}" if _is_comparable(one["type"]) else "false"
        for name, one in zip(names, columns, strict=True)
        if one["name"].lower() not in keys
    ]
    is_newer = ""
    if target.latest_by:
        latest = facts.quoted_name(target.latest_by)
        is_newer = f" and (t.{latest} is null or s.{latest} >= t.{latest})"
    update = (
        f" when matched and not ({' and '.join(same)}){is_newer}"
        f" then update set {', '.join(f't.{name} = s.{name}' for name in names)}"
    )
    matched = " and ".join(f"t.{key} <=> s.{key}" for key in map(facts.quoted_name, target.keys))
    return (
        f"merge into {table} as t using ({source}) as s on {matched}{update if same else ''}"
        f" when not matched then insert ({', '.join(names)})"
        f" values ({', '.join(f's.{name}' for name in names)})"
    )


# By table and transaction: the last run of a stream and micro-batch for which this process wrote.
_calls: dict[tuple[str, str], tuple[str, int]] = {}
_calls_guard = threading.Lock()


@contextmanager
def _called_once(table: str, key: tuple[str, str], call: tuple[str, int]) -> Iterator[None]:
    """Refuses a second call for a micro-batch: its rows would be taken for those of the first.

    Spark hands a batch over again only in another run of the stream. A call that failed may be
    made again.
    """
    with _calls_guard:
        if _calls.get(key) == call:
            raise WriteRefused(
                f"{table}, micro-batch {call[1]}: a writer of the same name was called for it "
                "before. Write all rows of a table in one call, or give each writer its own name."
            )
        _calls[key] = call
    try:
        yield
    except BaseException:
        with _calls_guard:
            _calls.pop(key, None)
        raise


def _once(
    rows: "DataFrame",
    target: _Target,
    found: tuple[str, Any],
    transaction: Callable[[Any], _Transaction | None],
    problem: Callable[[Any], str] = lambda _: "",
) -> bool:
    """Writes rows until the table has the transaction; returns whether this call wrote them.

    ``found`` is the table's full name and snapshot. ``transaction`` says what to write by a
    snapshot: None if the table has it. ``problem`` is asked after the write.

    Raises:
        WriteRefused: also, after the write, if others have made the table anew meanwhile.
    """
    failures = 0
    with _kept(rows, bool(target.keys)):
        while True:
            name, before = found
            todo = transaction(before)
            if todo is None:
                return False
            todo.tag["write"] = uuid.uuid4().hex
            try:
                _write(rows, target, name, before, todo)
                after = _snapshot(rows.sparkSession, target.table)[1]
                is_own, text = _outcome(rows.sparkSession, before, after, todo)
                if text := text or problem(after):
                    raise WriteRefused(f"{target.table}: {text}. Look at its rows and its history.")
                return is_own
            except WriteRefused:
                raise
            except Exception as error:
                text = errors.message(error)
                if not text.startswith(_SAME):
                    failures += 1
                    if failures == ATTEMPTS or not is_conflict(text):
                        raise
                    time.sleep(delay(failures))
                found = _snapshot(rows.sparkSession, target.table)


@contextmanager
def _kept(rows: "DataFrame", is_read_twice: bool) -> Iterator[None]:
    """Rows that are not computed anew for each statement that reads them."""
    is_ours = is_read_twice and not (rows.storageLevel.useMemory or rows.storageLevel.useDisk)
    if is_ours:
        rows.persist()
    try:
        yield
    finally:
        if is_ours:
            rows.unpersist()


def _outcome(
    spark: "SparkSession", before: Any, after: Any, todo: _Transaction
) -> tuple[bool, str]:
    """Whether a write made its commit, and what others did to the table since the look at it.

    Another try of the same transaction may have been faster: Delta then makes no commit. The text
    is empty if nothing took rows away.
    """
    opened = log.open_log(spark, facts.place_of(after))
    commits = [log.info_of(opened, at) for at in range(before.version() + 1, after.version() + 1)]
    own = [n for n, one in enumerate(commits) if _tag_of(one).get("write") == todo.tag["write"]]
    until = own[0] if own else len(commits)
    last = facts.transaction_of(after, todo.application)
    is_anew = before.metadata().id() != after.metadata().id()
    is_anew = is_anew or last is None or last < todo.version
    for info in commits[:until]:
        is_anew = is_anew or info.get("operation") == "RESTORE" or log.is_anew(info)
    # Without commitInfo there is no tag.
    return (
        bool(own) or not any(commits),
        "it was restored or made anew while it was written" if is_anew else "",
    )


def _write(
    rows: "DataFrame", target: _Target, name: str, snapshot: Any, todo: _Transaction
) -> None:
    """One commit, in a session of its own: settings for one statement are no other thread's."""
    spark = rows.sparkSession
    has = {field.name.lower() for field in rows.schema}
    columns = facts.columns_of(snapshot)
    given = [(field.name, facts.type_text(field.dataType)) for field in rows.schema]
    if problem := rows_problem(given, columns, target):
        raise WriteRefused(f"{target.table}: {problem}")
    columns = [one for one in columns if one["name"].lower() in has]
    view = f"dbt_delta_{uuid.uuid4().hex}"
    rows.createOrReplaceTempView(view)
    try:
        session = spark._jsparkSession.cloneSession()
        # The clone takes the views over when its catalog is first asked for.
        session.sessionState().catalog()
    finally:
        # Spark's own way to drop a view also takes its rows out of the cache.
        spark._jsparkSession.sessionState().catalog().dropTempView(view)
    source = source_sql(view, columns, target)
    if target.keys:
        _refuse_duplicates(session, source, target)
        sql = merge_sql(name, source, columns, target)
    else:
        names = ", ".join(facts.quoted_name(one["name"]) for one in columns)
        sql = f"insert into {name} ({names}) {source}"
    for key, value in {
        "spark.databricks.delta.write.txnAppId": todo.application,
        "spark.databricks.delta.write.txnVersion": str(todo.version),
        "spark.databricks.delta.commitInfo.userMetadata": json.dumps({_TAG: todo.tag}),
        # Spark's own blanks for char(n) break MERGE; Delta stores them.
        "spark.sql.readSideCharPadding": "false",
    }.items():
        session.conf().set(key, value)
    session.sql(sql)


def _refuse_duplicates(session: Any, source: str, target: _Target) -> None:
    keys = ", ".join(map(facts.quoted_name, target.keys))
    sql = f"select to_json(struct({keys})) from ({source}) group by {keys} having count(*) > 1"
    found = session.sql(f"{sql} limit 1").collectAsList()
    if not found.isEmpty():
        by = f"the same {target.latest_by}" if target.latest_by else "no latest_by to choose by"
        raise WriteRefused(
            f"{target.table}: several rows have the key {found.get(0).getString(0)} and {by}"
        )


def _snapshot(spark: "SparkSession", table: str) -> tuple[str, Any]:
    """The full name of a table, and its newest snapshot."""
    found = facts.delta_table(spark, table)
    if found is None:
        raise WriteRefused(f"{table} is not a Delta table")
    return found


def _planned(spark: "SparkSession", number: int) -> tuple[str, str, str]:
    """The ids of a batch's checkpoint and of this run of it, and a digest of what the batch reads.

    Spark keeps it in the checkpoint before it hands the batch over, with the time. So a batch that
    is given again has the same one, and a batch that is planned anew another one.
    """
    identity = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
    queries = spark._jsparkSession.sharedState().activeStreamingQueries()
    query = identity and queries.get(spark._jvm.java.util.UUID.fromString(identity))
    if not query:
        raise WriteRefused("idempotent_writer is for foreachBatch: use idempotent_write for a job")
    offsets = checkpoint.text(spark, f"{query.resolvedCheckpointRoot()}/offsets/{number}")
    if offsets is None:
        raise WriteRefused(f"the stream's checkpoint does not say what micro-batch {number} reads")
    digest = hashlib.sha256(offsets.encode()).hexdigest()[:32]
    return identity, str(query.runId()), digest


def _has_others(snapshot: Any, prefix: str, identity: str) -> bool:
    """Whether a table has micro-batches of a stream from checkpoints with other ids.

    All ids are of one length: a longer name belongs to a stream whose name begins like this one's.
    """
    others = set(facts.applications(snapshot)) - {prefix + identity}
    return any(o.startswith(prefix) and len(o) == len(prefix) + len(identity) for o in others)


def _standing(
    spark: "SparkSession", snapshot: Any, table: str, tag: dict[str, Any], names: Sequence[str]
) -> dict[str, Any] | None:
    """The newest tag with the same values of ``names`` among the commits that made the rows of now.

    None if there is none: RESTORE or CREATE OR REPLACE took the rows away. Empty if it is older
    than Delta's log, where such a statement is not seen either.

    Raises:
        WriteRefused: it cannot be told, because of a RESTORE to a timestamp, or to what the log
            does not have.
    """
    version = snapshot.version()
    commits = log.standing(log.open_log(spark, facts.place_of(snapshot)), version)
    try:
        for at, info in commits:
            version = 0 if log.is_anew(info) else at
            found = _tag_of(info)
            if found and all(found.get(name) == tag[name] for name in names):
                return found
    except LookupError as error:
        raise WriteRefused(
            f"{table}: {error}. So Delta does not tell whether the table has these rows: write "
            "them into a new table."
        ) from None
    return {} if version else None


def _tag_of(info: dict[str, Any]) -> dict[str, Any]:
    """What a commit says that a writer of this module has written; empty if it was another."""
    found = log.metadata_of(info).get(_TAG)
    return found if isinstance(found, dict) else {}


def _written(column: dict[str, Any]) -> str:
    """A column as Delta keeps it: char(n) with its blanks, for the keys."""
    name = facts.quoted_name(column["name"])
    declared = (column["declared"] or "").lower()
    if not declared.startswith("char("):
        return name
    length = declared[5:-1]
    return f"if(length({name}) < {length}, rpad({name}, {length}, ' '), {name}) as {name}"


def _is_comparable(kind: str) -> bool:
    """Whether ``<=>`` finds each difference of two values; not in part of a collated text."""
    return _OTHERS.search(kind) is None


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
