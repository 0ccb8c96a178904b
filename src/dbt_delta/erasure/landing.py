"""Landing files of an erasure: which model reads which folder, and files without some lines."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from jinja2 import nodes
from jinja2.exceptions import TemplateSyntaxError
from jinja2.nodes import Impossible

from dbt_delta.erasure.logs import Search
from dbt_delta.session import folders
from dbt_delta.session.java import hadoop_path, java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Arguments that say what is in a folder, by macro: names in their order, and defaults.
_MACROS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "landed_csv": (("folder", "columns", "null_value", "separator"), {"format": "csv"}),
    "landed_files": (("folder", "format", "columns", "drift", "separator", "null_value"), {}),
}
_DEFAULTS = {"separator": ",", "null_value": ""}
_KEPT = ("folder", "format", *_DEFAULTS)
_FORMATS = ("csv", "json", "parquet", "orc", "text")
_TEMPORARY = ".dbt_delta_erasing_"
# Where a file takes the place of another one at one instant, with the time that it has.
_RENAMING = ("file", "hdfs")


def landed(code: str, given: Any = None) -> dict[str, str] | None:
    """What a model lands, {folder, format, separator, null_value}, by its code or ``meta``.

    None if it lands nothing: no macro is called, or ``given`` is False.

    Raises:
        ValueError: it does not say so, or lands several folders.
    """
    if given is False:
        return None
    if given is not None:
        return _checked(given)
    found: list[dict[str, str]] = []
    for name, arguments in _calls(code):
        one = _constants(name, arguments, _KEPT)
        if one not in found:
            found.append(one)
    if len(found) > 1:
        names = ", ".join(sorted(one["folder"] for one in found))
        raise ValueError(f"its code has several calls, of {names}")
    return found[0] if found else None


def separators(code: str, given: Any = None) -> list[str]:
    """Between the fields of the lines that a model lands; its folder need not be a constant.

    Raises:
        ValueError: it does not say so.
    """
    if given is not None:
        return [] if given is False else [_checked(given)["separator"]]
    calls = _calls(code)
    return sorted({str(_constants(name, made, ["separator"])["separator"]) for name, made in calls})


def _checked(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or not {"folder", "format"} <= set(given) <= set(_KEPT):
        raise ValueError("its meta landing is no mapping with folder and format")
    found = {**_DEFAULTS, **given}
    if not all(isinstance(value, str) for value in found.values()):
        raise ValueError("its meta landing has a value that is no text")
    if found["format"] not in _FORMATS:
        raise ValueError(f"its meta landing has format {found['format']}, none of {_FORMATS}")
    if not found["separator"] or re.search(r'[\\"\r\n]', found["separator"]):
        raise ValueError("its meta landing has a separator that cannot be one")
    return found


def _calls(code: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls of macros that land: their names and arguments."""
    from dbt_common.clients.jinja import get_environment

    if not any(macro in code for macro in _MACROS):
        return
    try:
        calls = list(get_environment().parse(code).find_all(nodes.Call))
    except TemplateSyntaxError:
        raise ValueError("its code is no Jinja") from None
    for call in calls:
        if _name(call) in _MACROS:
            yield _name(call), _arguments(call, _name(call))


def _name(call: nodes.Call) -> str:
    called = call.node
    if isinstance(called, nodes.Getattr):
        return called.attr
    return called.name if isinstance(called, nodes.Name) else ""


def _arguments(call: nodes.Call, name: str) -> dict[str, Any]:
    given: dict[str, Any] = dict(zip(_MACROS[name][0], call.args, strict=False))
    given |= {pair.key: pair.value for pair in call.kwargs}
    if call.dyn_args or call.dyn_kwargs or "folder" not in given:
        raise ValueError(f"the arguments of {name} are not in its code")
    return given


def _constants(name: str, given: dict[str, Any], parts: Sequence[str]) -> dict[str, str]:
    found = {**_DEFAULTS, **_MACROS[name][1]}
    for part in (one for one in parts if one in given):
        try:
            found[part] = given[part].as_const()
        except Impossible:
            raise ValueError(f"{part} of {name} is no constant in its code") from None
    return found


def records(spark: "SparkSession", sql: str, search: Search) -> dict[str, dict[str, Any]]:
    """What a SELECT of records has of the subjects, by the path of their file.

    Args:
        sql: gives path, _file, modified_at (µs), _file_size, _line, line_count, and for the columns
            of ``search`` their values k1, k2 .. and words w1, w2 ..
    """
    from pyspark.sql import functions as F

    tests: dict[str, Any] = {}
    for number, column in enumerate(search.columns, 1):
        test = search.test(column, F.col(f"k{number}"))
        test = test | F.exists(f"w{number}", search.word_test(column))
        tests[column.name] = tests[column.name] | test if column.name in tests else test
    flags = [F.coalesce(test, F.lit(False)).alias(f"t{n}") for n, test in enumerate(tests.values())]
    names = [f"t{n}" for n in range(len(tests))]
    own = ("path", "_file", "modified_at", "_file_size", "_line", "line_count")
    found: dict[str, dict[str, Any]] = {}
    for row in spark.sql(sql).select(*own, *flags).where(" or ".join(names)).collect():
        file = found.setdefault(
            row.path,
            {"file": row._file, "modified_at": row.modified_at, "size": row._file_size}
            | {"lines": [], "what": set()},
        )
        file["lines"].append((row._line, row.line_count))
        file["what"].update(text for text, n in zip(tests, names, strict=True) if row[n])
    return found


class Landing:
    """The files of landing folders, on any file system that Spark knows."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark
        self._jvm = spark._jvm
        self._conf = spark._jsparkSession.sessionState().newHadoopConf()
        self._systems: dict[str, Any] = {}
        factory = java(self._jvm, "org.apache.hadoop.io.compress.CompressionCodecFactory")
        self._codecs = factory(self._conf)

    def resolved(self, path: str) -> str:
        """A path as its file system has it, links followed; as it is if it is not there."""
        system, place = folders.open_path(self._spark, path)
        return str((system.resolvePath(place) if system.exists(place) else place).toString())

    def renames(self, path: str) -> bool:
        """Whether a file takes the place of another one there at one instant, with its time."""
        return folders.open_path(self._spark, path)[0].getUri().getScheme() in _RENAMING

    def is_link(self, path: str) -> bool:
        system, place = self._open(path)
        return system.getUri().getScheme() == "file" and os.path.islink(_local(place))

    def prepare(
        self, path: str, lines: Sequence[tuple[int, int]], pattern: str | None
    ) -> dict[str, Any]:
        """Writes a file without some of its lines beside it, under a name that no reader takes.

        Args:
            lines: number of a record's first line, from 1, and how many lines it has.
            pattern: that of a record in a file with quotation marks; None if each line is one.

        Returns:
            {path, part, modified_at (µs), size, hash, old_hash, has_rows}; ``part`` is None if no
            line is left.

        Raises:
            ValueError: without these lines other records would be read.
        """
        system, place = self._open(path)
        codec = self._codecs.getCodec(place)
        text = self._read(system, place, codec)
        left = b"".join(_without(text, lines))
        if pattern is not None and not _has_same_records(text, left, lines, pattern):
            raise ValueError("a quotation mark would begin another field without these lines")
        found: dict[str, Any] = {"path": path, "part": None, "modified_at": 0, "size": 0}
        found |= {n: hashlib.sha256(t).hexdigest() for n, t in (("hash", left), ("old_hash", text))}
        # A header is no row.
        found["has_rows"] = len(left.strip().splitlines()) > (pattern is not None)
        if not left.strip():
            return found
        part = hadoop_path(self._jvm, place.getParent(), f"{_TEMPORARY}{uuid4().hex}")
        old = system.getFileStatus(place)
        self._write(system, part, codec, left, old.getPermission())
        # With the old time a file that was written anew is no newer delivery.
        system.setTimes(part, old.getModificationTime(), -1)
        status = system.getFileStatus(part)
        time = status.getModificationTime() * 1000
        return {**found, "part": part.toString(), "modified_at": time, "size": status.getLen()}

    def replace(self, path: str, size: int, modified_at: int, part: str | None) -> bool:
        """Puts ``part`` in the place of a file, or removes it; whether it was still that file."""
        system, place = self._open(path)
        is_there = system.exists(place)
        status = system.getFileStatus(place) if is_there else None
        is_same = status is not None and (
            (status.getLen(), status.getModificationTime() * 1000) == (size, modified_at)
        )
        if is_same and part is not None:
            self._rename(system, hadoop_path(self._jvm, part), place)
        elif is_same:
            system.delete(place, False)
        elif part is not None:
            system.delete(hadoop_path(self._jvm, part), False)
        return is_same or not is_there

    def tidy(self, folder: str) -> None:
        """Removes what a killed call has left."""
        system, place = folders.open_path(self._spark, folder)
        for status in system.listStatus(place) if system.exists(place) else []:
            if status.getPath().getName().startswith(_TEMPORARY):
                system.delete(status.getPath(), False)

    def _rename(self, system: Any, part: Any, place: Any) -> None:
        if system.getUri().getScheme() == "file":
            # A checksum that is not that of its file makes the file unreadable.
            checksum = _local(hadoop_path(self._jvm, place.getParent(), f".{place.getName()}.crc"))
            if os.path.exists(checksum):
                os.remove(checksum)
            os.replace(_local(part), _local(place))
            return
        rename = java(self._jvm, "org.apache.hadoop.fs.Options$Rename")
        options = self._spark._sc._gateway.new_array(rename, 1)
        options[0] = rename.OVERWRITE
        files = java(self._jvm, "org.apache.hadoop.fs.FileContext")
        files.getFileContext(system.getUri(), self._conf).rename(part, place, options)

    def _open(self, path: str) -> tuple[Any, Any]:
        """Of a path as Spark's _metadata has it, a URI."""
        place = hadoop_path(self._jvm, java(self._jvm, "java.net.URI")(path))
        uri = place.toUri()
        key = f"{uri.getScheme()}://{uri.getAuthority()}"
        if key not in self._systems:
            # One of its own: a local file gets no second one with its checksum, as others write
            # none.
            files = java(self._jvm, "org.apache.hadoop.fs.FileSystem")
            self._systems[key] = files.newInstance(uri, self._conf)
            self._systems[key].setWriteChecksum(False)
        return self._systems[key], place

    def _read(self, system: Any, place: Any, codec: Any) -> bytes:
        if codec is None:
            return folders.read(self._jvm, system, place)
        stream = codec.createInputStream(system.open(place))
        try:
            return bytes(java(self._jvm, "org.apache.commons.io.IOUtils").toByteArray(stream))
        finally:
            stream.close()

    def _write(self, system: Any, place: Any, codec: Any, content: bytes, permission: Any) -> None:
        sizes = (4096, system.getDefaultReplication(place), system.getDefaultBlockSize(place))
        stream = system.create(place, permission, True, *sizes, None)
        if codec is not None:
            stream = codec.createOutputStream(stream)
        try:
            stream.write(content)
        finally:
            stream.close()


def equal_contents(files: Sequence[dict[str, Any]], others: dict[str, str]) -> list[str]:
    """The names of files that have the same content now: one of them would not land.

    Args:
        files: those that were prepared; without rows they do not count.
        others: names of the other files in their folder, by the hash of their content.
    """
    anew = [one for one in files if one["has_rows"] and not one["is_copy"]]
    counts = Counter(one["hash"] for one in anew)
    counts.update(others.keys())
    equal = [one for one in anew if counts[one["hash"]] > 1]
    same = {others[one["hash"]] for one in equal if one["hash"] in others}
    return sorted({*same, *(one["file"] for one in equal)})


def _local(place: Any) -> str:
    return str(place.toUri().getPath())


def _without(text: bytes, lines: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """Its lines, with what ends them, but for some."""
    gone = {number for first, count in lines for number in range(first, first + count)}
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+\Z", text), 1):
        if number not in gone:
            yield line


def _has_same_records(
    text: bytes, left: bytes, lines: Sequence[tuple[int, int]], pattern: str
) -> bool:
    """Whether what is left has the other records, as the loader cuts them."""
    gone = {first for first, _ in lines}
    others = [record for number, record in _cut(text, pattern) if number not in gone]
    return others == [record for _, record in _cut(left, pattern)]


def _cut(text: bytes, pattern: str) -> Iterator[tuple[int, str]]:
    """Records that are not blank, by the number of their first line."""
    whole = text.decode("utf-8", errors="replace").removeprefix("\ufeff")
    if '"' not in whole:
        pattern = r"([^\n]*)(?:\n|\z)"
    number = 1
    for found in re.finditer(pattern.replace(r"\z", r"\Z"), whole):
        if found[1].strip():
            yield number, found[1].removesuffix("\r")
        number += found[0].count("\n")
