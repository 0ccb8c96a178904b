"""Landing files of an erasure: which model reads which folder, and files without some lines."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
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
    "landed_files": (("folder", "format", "columns", "drift", "separator"), {}),
}
_KEPT = ("folder", "format", "separator")
_TEMPORARY = ".dbt_delta_erasing_"


def landed(code: str) -> list[dict[str, str]]:
    """The folders that a model's code lands: {folder, format, separator}.

    Raises:
        ValueError: what it lands is no constant in the code.
    """
    from dbt_common.clients.jinja import get_environment

    if not any(macro in code for macro in _MACROS):
        return []
    try:
        calls = list(get_environment().parse(code).find_all(nodes.Call))
    except TemplateSyntaxError:
        raise ValueError("its code is no Jinja") from None
    return [_arguments(call, name) for call in calls if (name := _name(call)) in _MACROS]


def _name(call: nodes.Call) -> str:
    called = call.node
    if isinstance(called, nodes.Getattr):
        return called.attr
    return called.name if isinstance(called, nodes.Name) else ""


def _arguments(call: nodes.Call, name: str) -> dict[str, str]:
    names, defaults = _MACROS[name]
    given = dict(zip(names, call.args, strict=False))
    given |= {pair.key: pair.value for pair in call.kwargs}
    if call.dyn_args or call.dyn_kwargs or "folder" not in given:
        raise ValueError(f"the arguments of {name} are not in its code")
    found = {"separator": ",", **defaults}
    for part in (one for one in _KEPT if one in given):
        try:
            found[part] = given[part].as_const()
        except Impossible:
            raise ValueError(f"{part} of {name} is no constant in its code") from None
    return found


def records(spark: "SparkSession", sql: str, search: Search) -> dict[str, dict[str, Any]]:
    """What a SELECT of records has of the subjects, by the path of their file.

    Args:
        sql: gives path, _file, modified_at (µs), _file_size, _line, line_count, words, and k1,
            k2 .. for the columns of ``search``.
    """
    from pyspark.sql import functions as F

    tests = {}
    for number, column in enumerate(search.columns, 1):
        test = search.test(column, F.col(f"k{number}"))
        word = F.exists("words", partial(search.test, column))
        test = test | word
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
    """The files of a landing folder, on any file system that Spark knows."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark
        self._system: Any = None
        self._codecs = java(spark._jvm, "org.apache.hadoop.io.compress.CompressionCodecFactory")(
            spark._jsparkSession.sessionState().newHadoopConf()
        )

    def prepare(self, path: str, lines: Sequence[tuple[int, int]]) -> dict[str, Any]:
        """Writes a file without some of its lines beside it, under a name that no reader takes.

        Args:
            lines: number of a record's first line, from 1, and how many lines it has.

        Returns:
            {path, part, modified_at (µs), size, hash}; ``part`` is None if no line is left.

        Raises:
            ValueError: it is a link.
        """
        system, place = self._open(path)
        if system.getUri().getScheme() == "file" and os.path.islink(place.toUri().getPath()):
            raise ValueError(f"{place.getName()} is a link to another file")
        codec = self._codecs.getCodec(place)
        text = self._read(system, place, codec)
        left = b"".join(_without(text, lines))
        parent, digest = place.getParent(), hashlib.sha256(left).hexdigest()
        if not left.strip():
            return {"path": path, "part": None, "modified_at": 0, "size": 0, "hash": digest}
        part = hadoop_path(self._spark._jvm, parent, f"{_TEMPORARY}{uuid4().hex}{place.getName()}")
        self._write(system, part, codec, left)
        old = system.getFileStatus(place)
        system.setPermission(part, old.getPermission())
        # With the old time a file that was written anew is no newer delivery.
        system.setTimes(part, old.getModificationTime(), -1)
        status = system.getFileStatus(part)
        return {
            "path": path,
            "part": part.toString(),
            "modified_at": status.getModificationTime() * 1000,
            "size": status.getLen(),
            "hash": digest,
        }

    def replace(self, path: str, size: int, modified_at: int, part: str | None) -> bool:
        """Puts ``part`` in the place of a file, or removes it; whether it was still that file."""
        system, place = self._open(path)
        if not system.exists(place):
            return True
        status = system.getFileStatus(place)
        if (status.getLen(), status.getModificationTime() * 1000) != (size, modified_at):
            return False
        if part is None:
            system.delete(place, False)
            return True
        self._put(system, place, part)
        return True

    def _put(self, system: Any, place: Any, part: str) -> None:
        """At one instant: only some file systems rename so, the others write so."""
        source, scheme = hadoop_path(self._spark._jvm, part), system.getUri().getScheme()
        if scheme == "file":
            path = place.toUri().getPath()
            os.replace(source.toUri().getPath(), path)
            checksum = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.crc")
            if os.path.exists(checksum):
                os.remove(checksum)
        elif scheme == "hdfs":
            jvm = self._spark._jvm
            conf = self._spark._jsparkSession.sessionState().newHadoopConf()
            files = java(jvm, "org.apache.hadoop.fs.FileContext")
            rename = java(jvm, "org.apache.hadoop.fs.Options$Rename")
            options = self._spark._sc._gateway.new_array(rename, 1)
            options[0] = rename.OVERWRITE
            files.getFileContext(system.getUri(), conf).rename(source, place, options)
        else:
            self._write(system, place, None, folders.read(self._spark._jvm, system, source))
            system.delete(source, False)

    def tidy(self, folder: str) -> None:
        """Removes what a killed call has left."""
        system, place = folders.open_path(self._spark, folder)
        for status in system.listStatus(place):
            if status.getPath().getName().startswith(_TEMPORARY):
                system.delete(status.getPath(), False)

    def _open(self, path: str) -> tuple[Any, Any]:
        """Of a path as Spark's _metadata has it, a URI."""
        jvm = self._spark._jvm
        place = hadoop_path(jvm, java(jvm, "java.net.URI")(path))
        conf = self._spark._jsparkSession.sessionState().newHadoopConf()
        # One of its own: a local file gets no second one with its checksum, as others write none.
        if self._system is None:
            self._system = java(jvm, "org.apache.hadoop.fs.FileSystem").newInstance(
                place.toUri(), conf
            )
            self._system.setWriteChecksum(False)
        return self._system, place

    def _read(self, system: Any, place: Any, codec: Any) -> bytes:
        if codec is None:
            return folders.read(self._spark._jvm, system, place)
        stream = codec.createInputStream(system.open(place))
        try:
            return bytes(
                java(self._spark._jvm, "org.apache.commons.io.IOUtils").toByteArray(stream)
            )
        finally:
            stream.close()

    def _write(self, system: Any, place: Any, codec: Any, content: bytes) -> None:
        stream = system.create(place)
        if codec is not None:
            stream = codec.createOutputStream(stream)
        try:
            stream.write(content)
        finally:
            stream.close()


def _without(text: bytes, lines: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """Its lines, with what ends them, but for some."""
    gone = {number for first, count in lines for number in range(first, first + count)}
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+\Z", text), 1):
        if number not in gone:
            yield line
