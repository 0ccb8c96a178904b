"""Decodes every file in the folder of a table, and says which of them hold a subject.

Deletion vectors are ignored: a row that they hide is in its file. No file is changed.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dbt_delta.erasure.logs import Search, Seen, actions, base, words_sql
from dbt_delta.session import folders
from dbt_delta.session.facts import quoted_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG = "_delta_log/"
# The bits of a deletion vector, Hadoop's checksums, and markers of Spark hold no values.
_EMPTY = re.compile(r"(deletion_vector_.*\.bin|\..*\.crc|_SUCCESS|.*_\$folder\$)$")
_VERSION = re.compile(r"^(\d{20})\.")
HOUR = 3_600_000
DAY = 24 * HOUR


@dataclass(frozen=True)
class File:
    path: str
    name: str
    """The path in the table's folder."""
    changed: int


def scan(spark: "SparkSession", table: dict[str, Any], search: Search) -> dict[str, Any]:
    """{findings, counts, unread} of a table: {location, log_hours, file_hours}.

    A finding is {place, file, what, rows, versions, is_live, until}; ``until`` is the time in ms
    until which Delta keeps the file.
    """
    files = list(_listed(spark, table["location"]))
    data = [f for f in files if f.name.endswith(".parquet") and not f.name.startswith(_LOG)]
    log = [f for f in files if f.name.startswith(_LOG) and not _EMPTY.search(base(f.name))]
    known = {f.name for f in (*data, *log)}
    others = [f for f in files if f.name not in known and not _EMPTY.search(base(f.name))]
    unread: list[str] = []
    hits = dict(_decoded(spark, data, search, unread))
    clean = {base(f.name) for f in data} - set(hits) - set(unread)
    seen, findings = Seen(), []
    for file in sorted(log, key=_order):
        try:
            entries, text = _log_entries(spark, file)
        except Exception:  # Java's own kinds of error, or no JSON
            unread.append(base(file.name))
            continue
        version = _VERSION.match(base(file.name))
        if version and not file.name.endswith(".crc"):
            seen.take(int(version[1]), entries)
        what = {*search.entries(entries, clean), *search.named(text)}
        if what:
            place, until = _place(file.name), _next_day(file.changed + table["log_hours"] * HOUR)
            findings.append(finding(place, base(file.name), what, until=until))
    for file in data:
        if base(file.name) in hits:
            about = seen.files.get(base(file.name))
            found = hits[base(file.name)]
            left = about.left if about and about.left else file.changed
            is_change = "_change_data/" in file.name
            findings.append(
                finding(
                    "change file" if is_change else "data file",
                    base(file.name),
                    found["what"],
                    rows=found["rows"],
                    versions=about.versions if about else "",
                    is_live=about is not None and about.is_live and not is_change,
                    until=int(left + table["file_hours"] * HOUR),
                )
            )
    unread += [base(file.name) for file in others]
    counts = Counter(_place(file.name) for file in log)
    counts["data file"] = sum("_change_data/" not in file.name for file in data)
    counts["change file"] = len(data) - counts["data file"]
    return {"findings": findings, "counts": dict(counts), "unread": sorted(unread)}


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
        return [json.loads(line) for line in lines], "\n".join(lines)
    text = folders.read(spark._jvm, *folders.open_path(spark, file.path)).decode(errors="replace")
    if base(file.name).startswith("_last_checkpoint") or file.name.endswith(".crc"):
        return [json.loads(text)], text
    return actions(text), text


def _decoded(
    spark: "SparkSession", files: Sequence[File], search: Search, unread: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The files with hits. What cannot be read together, as types differ, is read by halves."""
    if not files:
        return
    try:
        yield from _hits(spark, [file.path for file in files], search)
    except Exception:  # Java's own kinds of error
        if len(files) == 1:
            unread.append(base(files[0].name))
            return
        half = len(files) // 2
        yield from _decoded(spark, files[:half], search, unread)
        yield from _decoded(spark, files[half:], search, unread)


def _hits(
    spark: "SparkSession", paths: Sequence[str], search: Search
) -> list[tuple[str, dict[str, Any]]]:
    from pyspark.sql import functions as F

    # Without recursiveFileLookup Spark makes columns of the folders' names.
    options = {"mergeSchema": "true", "recursiveFileLookup": "true"}
    rows = spark.read.options(**options).parquet(*paths)
    tests = {}
    for column in search.columns:
        if column.physical in rows.columns:
            value = F.col(quoted_name(column.physical))
            test = search.test(column, value)
            if column.has_words:
                name = quoted_name(column.physical)
                text = f"if(startswith({name}, '{column.start}'), {name}, null)"
                test = F.exists(
                    F.expr(words_sql(text, column.separators)), partial(search.test, column)
                )
            if column.emptied is not None:
                left = [quoted_name(name) for name in column.emptied if name in rows.columns]
                test = test & F.expr(" or ".join(f"{n} is not null" for n in left) or "false")
            tests[column.name] = tests[column.name] | test if column.name in tests else test
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
