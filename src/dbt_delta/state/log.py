"""Delta's log as a list of files: which version a table has, and whether a later one changed rows.

A version is known by its number and by the digest of its commit, which holds ids that no other
commit has: a table that was dropped and made again at the same place has another history.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from dbt_delta.session import folders
from dbt_delta.session.java import hadoop_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COMMIT = re.compile(r"[0-9]{20}\.json")
# What happened to a table whose history is another one.
ANEW = "another history"
# Where a catalog commits for a table, its newest commits lie there; else the folder is empty.
_ELSEWHERE = ("_commits", "_staged_commits")
# What Delta counts in a MERGE.
_CHANGED = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
# How many commits before a change of the metadata are looked at for the schema before it.
_NEAR = 50


class Log(Protocol):
    """The files of a table's ``_delta_log``, or of a folder in it."""

    def names(self, folder: str = "") -> list[str]: ...

    def read(self, name: str) -> bytes: ...

    def written(self, name: str) -> int:
        """When the place where the file lies got it, in microseconds since 1970."""
        ...


class LocalLog:
    """A log on a disk of this machine."""

    def __init__(self, table: Path) -> None:
        self._folder = table / "_delta_log"

    def names(self, folder: str = "") -> list[str]:
        try:
            return [path.name for path in (self._folder / folder).iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def read(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def written(self, name: str) -> int:
        return (self._folder / name).stat().st_mtime_ns // 1000


class HadoopLog:
    """A log in any place that Spark reaches."""

    def __init__(self, spark: "SparkSession", table: str) -> None:
        self._jvm = spark._jvm
        self._system, self._folder = folders.open_path(spark, f"{table}/_delta_log")

    def names(self, folder: str = "") -> list[str]:
        place = self._folder
        if folder:
            place = hadoop_path(self._jvm, place, folder)
        if not self._system.exists(place):
            return []
        return [status.getPath().getName() for status in self._system.listStatus(place)]

    def read(self, name: str) -> bytes:
        path = hadoop_path(self._jvm, self._folder, name)
        return folders.read(self._jvm, self._system, path)

    def written(self, name: str) -> int:
        path = hadoop_path(self._jvm, self._folder, name)
        return 1000 * int(self._system.getFileStatus(path).getModificationTime())


def open_log(spark: "SparkSession", place: str) -> Log:
    """The log of the table in a place as the catalog names it."""
    return _local(place) if _is_local(place) else HadoopLog(spark, place)


def _is_local(place: str) -> bool:
    return urlsplit(place).scheme in ("", "file")


def _local(place: str) -> LocalLog:
    # Hadoop's text of a path is not encoded.
    return LocalLog(Path(re.sub(r"^file:(//)?", "", place)))


def young_commits(
    tables: dict[int, tuple[str, int]],
) -> dict[int, list[dict[str, Any]]] | None:
    """The commits of tables, {id: (place, version)}, from that version on, newest first.

    They are told as by ``_young_commits_sql``. A table that does not have that version was made
    anew: it is told from its first version on. The times of files are not looked at, as the clock
    may have gone back.

    None if not all are on disks of this machine, where Spark reads them faster, or if one cannot be
    read, because Spark's own error is needed.
    """
    found = {}
    for key, (place, version) in tables.items():
        if not _is_local(place):
            return None
        try:
            found[key] = list(_young(_local(place), version))
        except (OSError, ValueError):
            return None
    return found


def _young(log: Log, version: int) -> Iterator[dict[str, Any]]:
    names = sorted(filter(_COMMIT.fullmatch, log.names()), reverse=True)
    first = f"{version:020d}.json"
    for name in names:
        if name < first <= names[0]:
            return
        # Other lines may be many.
        lines = [line for line in log.read(name).splitlines() if b'"commitInfo"' in line]
        info = _info([json.loads(line) for line in lines])
        time = info.get("inCommitTimestamp") or info.get("timestamp")
        tag = metadata_of(info)
        if info:
            yield {
                "version": int(name.partition(".")[0]),
                "operation": info.get("operation"),
                "written": None if time is None else str(time),
                "run": tag.get("dbt_invocation_id"),
                "limited_by": tag.get("dbt_limited_by"),
            }


def newest(log: Log) -> dict[str, Any] | None:
    """The newest version, {version, digest}; None where that cannot be told."""
    names = log.names()
    commits = [name for name in names if _COMMIT.fullmatch(name)]
    if not commits or any(log.names(folder) for folder in _ELSEWHERE if folder in names):
        return None
    return _version(log, max(commits))


def change(log: Log, old: dict[str, Any], new: dict[str, Any]) -> str:
    """What happened to the rows or columns of a table since a version; empty if nothing did.

    OPTIMIZE, VACUUM, properties and comments change neither.
    """
    if new["version"] < old["version"] or _digest_of(log, old["version"]) != old["digest"]:
        return ANEW
    for number in range(new["version"], old["version"], -1):
        if _changes_data(log, number):
            return f"version {old['version']} -> {number}"
    return ""


def is_tagged(log: Log, first: int, last: int, run: str) -> bool:
    """Whether all commits from ``first`` to ``last`` that change data are of one run of dbt."""
    return all(
        not _changes_data(log, number) or _run_of(_actions(log, number)) == run
        for number in range(first, last + 1)
    )


def changed_at(log: Log) -> tuple[int, bool] | None:
    """When rows last changed, in microseconds since 1970 in UTC; None if unknown.

    False beside it where the log has been cleaned up since then: no later than that.
    """
    found, at = newest(log), None
    if found is None:
        return None
    for number in range(found["version"], -1, -1):
        try:
            actions = _actions(log, number)
            at = _time_of(log, number, actions)
        except Exception:  # cleaned up, or damaged
            return None if at is None else (at, False)
        if _moves_rows(actions):
            break
    return None if at is None else (at, True)


def standing(log: Log, version: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Version and ``commitInfo`` of the commits that made a version's rows, newest first.

    After a RESTORE follow the commits of the version that it restored. Ends with a commit that made
    the table anew, and before what was cleaned up.

    Raises:
        LookupError: the table was restored, to a timestamp or to what the log has no more; or the
            version itself has no commit.
    """
    at, is_restored = version, False
    while at >= 0:
        try:
            actions = _actions(log, at)
        except Exception:  # cleaned up
            if is_restored or at == version:
                raise LookupError(f"version {at} is no more in Delta's log") from None
            return
        info = _info(actions)
        yield at, info
        if is_anew(info):
            return
        if info.get("operation") != "RESTORE":
            at -= 1
            continue
        restored = str((info.get("operationParameters") or {}).get("version"))
        if not restored.isdecimal():
            raise LookupError(f"version {at} restored the table to a timestamp")
        at, is_restored = int(restored), True


def is_anew(info: dict[str, Any]) -> bool:
    """Whether a commit put another table in the place of the one before: CREATE OR REPLACE."""
    return "REPLACE TABLE" in str(info.get("operation"))


def info_of(log: Log, number: int) -> dict[str, Any]:
    """The ``commitInfo`` of a version; empty if the commit has none, or is gone."""
    try:
        actions = _actions(log, number)
    except Exception:  # cleaned up; Java's own kind of error elsewhere
        return {}
    return _info(actions)


def metadata_of(info: dict[str, Any]) -> dict[str, Any]:
    """The user metadata of a ``commitInfo``; empty if it is no object in JSON."""
    try:
        found = json.loads(info.get("userMetadata") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def schema_at(log: Log, number: int) -> str:
    """The columns at a version as Delta writes them; empty if unknown.

    From Delta's checksum beside it or the last commit that had them.
    """
    for earlier in range(number, max(number - _NEAR, -1), -1):
        try:
            checksum = json.loads(log.read(f"{earlier:020d}.crc"))
            return str(checksum["metadata"]["schemaString"])
        except Exception:  # not every writer makes one
            pass
        try:
            actions = _actions(log, earlier)
        except Exception:
            return ""
        for action in actions:
            if "metaData" in action:
                return str(action["metaData"]["schemaString"])
    return ""


def plain_schema(text: str) -> str:
    """The names and types of columns in Spark's JSON, without their comments."""
    return json.dumps(_without_comments(json.loads(text)), sort_keys=True)


def _name(number: int) -> str:
    return f"{number:020d}.json"


def _version(log: Log, name: str) -> dict[str, Any] | None:
    number = int(name.partition(".")[0])
    digest = _digest_of(log, number)
    return None if digest is None else {"version": number, "digest": digest}


def _digest_of(log: Log, number: int) -> str | None:
    try:
        return hashlib.sha256(log.read(_name(number))).hexdigest()[:32]
    except Exception:  # cleaned up meanwhile; Java's own kind of error elsewhere
        return None


def _actions(log: Log, number: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read(_name(number)).splitlines() if line.strip()]


def _info(actions: list[dict[str, Any]]) -> dict[str, Any]:
    return next((one["commitInfo"] for one in actions if "commitInfo" in one), {})


def _changes_data(log: Log, number: int) -> bool:
    try:
        actions = _actions(log, number)
    except Exception:  # a commit that is gone, or no JSON: anything may have happened
        return True
    if _moves_rows(actions):
        return True
    for action in actions:
        if "metaData" in action:
            before = _schema_at(log, number - 1)
            if not before or before != plain_schema(action["metaData"]["schemaString"]):
                return True
    return False


def rows_written(info: dict[str, Any]) -> int:
    """How many rows a commit inserted, updated and deleted, as Delta counted them."""
    metrics = info.get("operationMetrics", {})
    changed = [int(metrics[key]) for key in _CHANGED if key in metrics]
    return sum(changed) if changed else int(metrics.get("numOutputRows", 0))


def _moves_rows(actions: list[dict[str, Any]]) -> bool:
    files = (action[kind] for action in actions for kind in ("add", "remove") if kind in action)
    return any(file.get("dataChange", True) for file in files)


def _schema_at(log: Log, number: int) -> str:
    found = schema_at(log, number)
    return found and plain_schema(found)


def _without_comments(kind: Any) -> Any:
    if isinstance(kind, list):
        return [_without_comments(one) for one in kind]
    if not isinstance(kind, dict):
        return kind
    return {
        key: {k: v for k, v in value.items() if k != "comment"}
        if key == "metadata"
        else _without_comments(value)
        for key, value in kind.items()
    }


def _time_of(log: Log, number: int, actions: list[dict[str, Any]]) -> int:
    """Microseconds since 1970 of a commit, which says milliseconds, or nothing.

    A writer whose clock is ahead wrote it no later than its place got it.
    """
    written = log.written(_name(number))
    for action in actions:
        about = action.get("commitInfo") or {}
        if said := about.get("inCommitTimestamp") or about.get("timestamp"):
            return min(1000 * int(said), written)
    return written


def _run_of(actions: list[dict[str, Any]]) -> str | None:
    infos = (action["commitInfo"] for action in actions if "commitInfo" in action)
    return metadata_of(next(infos, {})).get("dbt_invocation_id")
