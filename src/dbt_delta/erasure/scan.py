"""Decodes every file in the folder of a table, and says which of them hold a subject.

Deletion vectors are ignored: a row that they hide is in its file. No file is changed.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from dbt_delta.erasure.logs import (
    Column,
    DataFile,
    Search,
    Seen,
    actions,
    base,
    folder_values,
    loads,
    words_sql,
)
from dbt_delta.erasure.names import ever, fields, unknown
from dbt_delta.session import folders
from dbt_delta.session.facts import quoted_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG = "_delta_log/"
# The bits of a deletion vector, Hadoop's checksums, and markers of Spark hold no values.
_EMPTY = re.compile(r"(deletion_vector_.*\.bin|\..*\.crc|_SUCCESS|.*_\$folder\$)$")
_VERSION = re.compile(r"^(\d{20})\.")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/")
HOUR = 3_600_000
DAY = 24 * HOUR


@dataclass(frozen=True)
class File:
    path: str
    name: str
    """The path in the table's folder, or elsewhere that of a file which a shallow clone reads."""
    changed: int
    is_elsewhere: bool = False


def scan(spark: "SparkSession", table: dict[str, Any], search: Search) -> dict[str, Any]:
    """{findings, counts, unread, known, links} of a table: {location, log_hours, file_hours}.

    A finding is {place, file, what, rows, versions, is_live, until}; ``until`` is the time in ms
    until which Delta keeps the file. ``known`` is what later scans need, {columns, names, files}:
    names of columns that the log may no longer have then, and files with subjects. ``table`` has
    the names and files of earlier scans. ``links`` are the groups that its rows lead to, by the
    ``leads`` of ``table``.
    """
    files = list(_listed(spark, table["location"]))
    data = [f for f in files if f.name.endswith(".parquet") and not f.name.startswith(_LOG)]
    log = [f for f in files if f.name.startswith(_LOG) and not _EMPTY.search(base(f.name))]
    known = {f.name for f in (*data, *log)}
    others = [f for f in files if f.name not in known and not _EMPTY.search(base(f.name))]
    unread: set[str] = set()
    seen = _learned(spark, log, unread)
    data += _elsewhere(spark, seen, {base(f.name) for f in data}, unread)
    schemas = [fields(metadata) for metadata in seen.metadata.values()]
    search = search.of(ever(search.columns, schemas))
    names = {one.key for schema in schemas for one in schema} | set(table.get("names", ()))
    hits = dict(_decoded(spark, data, search, names, unread))
    partitions = {one.key for schema in schemas for one in schema if one.is_partition}
    _add_partitions(data, seen, search, partitions, hits, unread)
    leads = {
        group: {**lead, "columns": ever([Column(**lead["column"])], schemas)}
        for group, lead in table.get("leads", {}).items()
    }
    clean = {base(f.name) for f in data} - set(hits) - unread
    held = {base(f.name) for f in data if base(f.name) in hits and not _is_change(f)}
    held |= set(table.get("files", ()))
    findings = []
    for file in log:
        try:
            entries, text = _log_entries(spark, file)
        except Exception:  # Java's own kinds of error, or no JSON
            unread.add(base(file.name))
            continue
        what = {*search.entries(entries, clean, held), *search.named(text)}
        if what:
            place, until = _place(file.name), _next_day(file.changed + table["log_hours"] * HOUR)
            findings.append(finding(place, base(file.name), what, until=until))
    found = (f for f in data if base(f.name) in hits)
    findings += [
        _of_data(f, hits[base(f.name)], seen.files.get(base(f.name)), table) for f in found
    ]
    counts = Counter(_place(file.name) for file in log)
    counts["data file"] = sum(not _is_change(file) for file in data)
    counts["change file"] = len(data) - counts["data file"]
    return {
        "findings": findings,
        "counts": dict(counts),
        "unread": sorted({*unread, *(base(file.name) for file in others)}),
        "known": {
            "columns": [asdict(column) for column in search.columns],
            "names": sorted(names),
            "files": sorted(held),
        },
        "links": _links(spark, data, search, hits, leads),
    }


def _of_data(
    file: File, hit: dict[str, Any], about: DataFile | None, table: dict[str, Any]
) -> dict[str, Any]:
    left = about.left if about and about.left else file.changed
    until = left + table["file_hours"] * HOUR
    if file.is_elsewhere:
        # It stays where it is: what goes is the log that names it.
        until = max(until, _next_day(left + table["log_hours"] * HOUR))
    return finding(
        "change file" if _is_change(file) else "data file",
        base(file.name),
        hit["what"],
        rows=hit["rows"],
        versions=about.versions if about else "",
        # A file of which the log does not tell may belong to any version.
        is_live=(about is None or about.is_live) and not _is_change(file),
        until=int(until),
    )


def _is_change(file: File) -> bool:
    return "_change_data/" in file.name


def _learned(spark: "SparkSession", log: Sequence[File], unread: set[str]) -> Seen:
    """What all files of a log say of its files and columns."""
    seen = Seen()
    sidecars = {base(file.name): file for file in log if "_sidecars/" in file.name}
    for file in sorted(log, key=_order):
        version = _VERSION.match(base(file.name))
        if not version:
            continue
        try:
            entries, _ = _log_entries(spark, file)
            if file.name.endswith(".crc"):
                seen.learn(entries[0].get("metadata"))
                continue
            for about in [one["sidecar"] for one in entries if one.get("sidecar")]:
                entries += _log_entries(spark, sidecars[base(about["path"])])[0]
        except Exception:  # Java's own kinds of error, no JSON, or no such sidecar
            unread.add(base(file.name))
            continue
        seen.take(int(version[1]), entries)
    return seen


def _elsewhere(
    spark: "SparkSession", seen: Seen, listed: set[str], unread: set[str]
) -> Iterator[File]:
    """The files outside of a table's folder that its log names, as that of a shallow clone does.

    What belongs to the table and is not there counts as not decoded.
    """
    for name, about in seen.files.items():
        if name in listed:
            continue
        try:
            path = unquote(about.path)
            if _ABSOLUTE.match(path):
                system, place = folders.open_path(spark, path)
                if system.exists(place):
                    yield File(path, path, system.getFileStatus(place).getModificationTime(), True)
                    continue
        except Exception:  # of Java
            unread.add(name)
        if about.is_live:
            unread.add(name)


def _add_partitions(
    files: Sequence[File],
    seen: Seen,
    search: Search,
    partitions: set[str],
    hits: dict[str, dict[str, Any]],
    unread: set[str],
) -> None:
    """Adds the files whose partition has a subject: their rows do not have its column."""
    were = {one.physical.lower() for one in search.columns} & partitions
    for file in files:
        name = base(file.name)
        in_log, in_path = seen.values.get(name), folder_values(file.name)
        what = {*search.partitions((in_log or {}).items()), *search.partitions(in_path)}
        if what:
            hit = hits.setdefault(name, {"rows": None, "what": []})
            hit.update(what=sorted({*hit["what"], *what}), is_partition=True)
        elif were and in_log is None and not were <= {key.lower() for key, _ in in_path}:
            unread.add(name)


def finding(place: str, file: str, what: Any, **more: Any) -> dict[str, Any]:
    found = {"place": place, "file": file, "what": sorted(what)}
    return {**found, "rows": None, "versions": "", "is_live": False, **more}


def _place(name: str) -> str:
    last = base(name)
    if ".checkpoint." in last or "_sidecars/" in name:
        return "checkpoint"
    return "checksum" if last.endswith(".crc") else "log"


def _order(file: File) -> tuple[str, bool]:
    """Commits by version, checkpoints before the commit of their version."""
    return base(file.name)[:20], ".checkpoint." not in file.name


def _next_day(time: float) -> int:
    """Delta removes log files by whole days in UTC."""
    return int(-(-time // DAY) * DAY)


def _log_entries(spark: "SparkSession", file: File) -> tuple[list[dict[str, Any]], str]:
    if file.name.endswith(".parquet"):
        from pyspark.sql import functions as F

        rows = spark.read.parquet(file.path)
        lines = [row[0] for row in rows.select(F.to_json(F.struct("*"))).collect()]
        return [loads(line) for line in lines], "\n".join(lines)
    text = folders.read(spark._jvm, *folders.open_path(spark, file.path)).decode(errors="replace")
    if base(file.name).startswith("_last_checkpoint") or file.name.endswith(".crc"):
        return [loads(text)], text
    return actions(text), text


def _decoded(
    spark: "SparkSession", files: Sequence[File], search: Search, known: set[str], unread: set[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The files with hits. What cannot be read together, as types differ, is read by halves."""
    if not files:
        return
    try:
        rows = _rows(spark, files)
        hits = _hits(rows, search)
        unread |= set(_unsure(spark, files, rows, search, known))
        yield from hits
    except Exception:  # Java's own kinds of error
        if len(files) == 1:
            unread.add(base(files[0].name))
            return
        for half in _halves(files):
            yield from _decoded(spark, half, search, known, unread)


def _halves(files: Sequence[File]) -> tuple[Sequence[File], Sequence[File]]:
    half = len(files) // 2
    return files[:half], files[half:]


def _rows(spark: "SparkSession", files: Sequence[File]) -> Any:
    # Without recursiveFileLookup Spark makes columns of the folders' names.
    options = {"mergeSchema": "true", "recursiveFileLookup": "true"}
    return spark.read.options(**options).parquet(*(file.path for file in files))


def _named(rows: Any, column: Column) -> list[str]:
    """The columns of rows that a declared column is, however they are written."""
    return [name for name in rows.columns if name.lower() == column.physical.lower()]


def _unsure(
    spark: "SparkSession", files: Sequence[File], rows: Any, search: Search, known: set[str]
) -> Iterator[str]:
    """Files without a declared column that have one which no schema names: it may be that one."""
    from pyspark.sql import functions as F

    if not unknown(rows.columns, known):
        return
    there: dict[str, list[str]] = {}
    for column in search.columns:
        there.setdefault(column.of, []).extend(_named(rows, column))
    if len(files) == 1:
        yield from [base(files[0].name)] if not all(there.values()) else []
        return
    # A file with a value has the column.
    has = [
        F.bool_or(
            reduce(or_, (F.col(quoted_name(name)).isNotNull() for name in names), F.lit(False))
        )
        for names in there.values()
    ]
    counted = rows.groupBy(F.col("_metadata.file_path").alias("file")).agg(
        F.array(*has).alias("has")
    )
    lacks = {base(row.file) for row in counted.where("array_contains(has, false)").collect()}
    for half in _halves([file for file in files if base(file.name) in lacks]):
        if half:
            yield from _unsure(spark, half, _rows(spark, half), search, known)


def _links(
    spark: "SparkSession",
    files: Sequence[File],
    search: Search,
    hits: dict[str, dict[str, Any]],
    leads: dict[str, dict[str, Any]],
) -> dict[str, dict[str, list[str]]]:
    """Hashes of the keys in rows of subjects, except those that another person has today.

    ``leads`` are {columns, others} by group.
    """
    found = {}
    held = [one for one in files if base(one.name) in hits]
    whole = [one for one in held if hits[base(one.name)].get("is_partition")]
    for group, lead in leads.items():
        others = [one for one in held if one not in whole]
        values = {*_keys(spark, whole, None, lead["columns"])}
        values |= {*_keys(spark, others, search, lead["columns"])}
        if values:
            kept = _without(spark, sorted(values), lead["others"])
            found[group] = search.hasher.group(kept)
    return found


def _keys(
    spark: "SparkSession", files: Sequence[File], search: Search | None, columns: Sequence[Column]
) -> Iterator[str]:
    """What files have in columns, in rows of subjects, or without ``search`` in all rows."""
    if not files:
        return
    try:
        rows = _rows(spark, files)
        if search is not None:
            rows = rows.where(reduce(or_, _tests(rows, search).values()))
        for column in columns:
            for name in _named(rows, column):
                for row in rows.select(quoted_name(name)).distinct().collect():
                    yield from column.parts(row[0]) if row[0] is not None else ()
    except Exception:  # Java's own kinds of error
        # All of them have been decoded.
        if len(files) == 1:
            raise
        for half in _halves(files):
            yield from _keys(spark, half, search, columns)


def _without(spark: "SparkSession", values: Sequence[str], others: str) -> list[str]:
    keys = spark.createDataFrame([(value,) for value in values], "k string")
    return [row.k for row in keys.join(spark.sql(others), "k", "left_anti").collect()]


def _tests(rows: Any, search: Search) -> dict[str, Any]:
    """Whether a row is a subject's, by the name of the column that says so."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DecimalType, DoubleType, FloatType, StringType

    tests: dict[str, Any] = {}
    for column in search.columns:
        for name in _named(rows, column):
            value, text = F.col(quoted_name(name)), quoted_name(name)
            type = rows.schema[name].dataType
            is_number = isinstance(type, FloatType | DoubleType | DecimalType)
            is_number |= isinstance(type, StringType) and column.is_integer
            test = search.test(column, value, is_number)
            if column.has_words:
                text = f"if(startswith({text}, '{column.start}'), {text}, null)"
                test = F.exists(
                    F.expr(words_sql(text, column.separators)), search.word_test(column)
                )
            if column.emptied is not None:
                names = {name.lower() for name in column.emptied}
                left = [quoted_name(name) for name in rows.columns if name.lower() in names]
                test = test & F.expr(" or ".join(f"{n} is not null" for n in left) or "false")
            tests[column.name] = tests[column.name] | test if column.name in tests else test
    return tests


def _hits(rows: Any, search: Search) -> list[tuple[str, dict[str, Any]]]:
    from pyspark.sql import functions as F

    tests = _tests(rows, search)
    whole = F.to_json(F.struct("*"))
    for number, value in enumerate(search.values, 1):
        texts = {value, json.dumps(value, ensure_ascii=False)[1:-1]}
        test = F.lit(False)
        for text in texts:
            test = test | whole.contains(text)
        tests[f"named value {number}"] = test
    if not tests:
        return []
    flags = [F.coalesce(test, F.lit(False)).alias(f"t{n}") for n, test in enumerate(tests.values())]
    names = [f"t{n}" for n in range(len(tests))]
    found = rows.select(F.col("_metadata.file_path").alias("file"), *flags)
    found = found.where(" or ".join(names)).groupBy("file")
    counted = [F.count("*").alias("rows"), *(F.bool_or(name).alias(name) for name in names)]
    return [
        (
            base(row.file),
            {"rows": row.rows, "what": [t for t, n in zip(tests, names, strict=True) if row[n]]},
        )
        for row in found.agg(*counted).collect()
    ]


def _listed(spark: "SparkSession", location: str) -> Iterator[File]:
    system, place = folders.open_path(spark, location)
    if not system.exists(place):
        return
    root = system.makeQualified(place).toString().rstrip("/") + "/"
    found = system.listFiles(place, True)
    while found.hasNext():
        status = found.next()
        path = status.getPath().toString()
        yield File(path, path.removeprefix(root), status.getModificationTime())
