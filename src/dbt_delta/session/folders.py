"""Folders in a schema's location that are not in the catalog: leftovers of killed statements.

CREATE TABLE AS writes files, then commits, then registers the table. If it is killed before that,
it leaves a folder that DROP does not remove, and in which Delta refuses to create a table.
"""

import os
import re
import time
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

from dbt_delta.session import formats
from dbt_delta.session.facts import quoted_name
from dbt_delta.session.java import hadoop_path, java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = AdapterLogger("dbt_delta")
# Staged tables are never renamed, so such a folder has no table of another name.
STAGED = re.compile(r"__dbt_tmp_[0-9a-f]{10}$")


def unknown(spark: "SparkSession", schema: str, known: list[str]) -> dict[str, str]:
    """Paths, by name in lower case, of the schema's folders without a known name.

    Empty if the location cannot be listed, and where names of folders mean nothing: in a catalog
    of another format than Delta.
    """
    if formats.of(spark) is not None:
        return {}
    names = {name.lower() for name in known}
    try:
        system, place = open_path(spark, of_schema(spark, schema))
        found = [status for status in system.listStatus(place) if status.isDirectory()]
        paths = {status.getPath().getName(): status.getPath().toString() for status in found}
    except Exception as error:
        logger.debug(f"The folders of schema {schema} cannot be listed: {error}")
        return {}
    return {name: path for name, path in paths.items() if name.lower() not in names}


def of_schema(spark: "SparkSession", schema: str) -> str:
    """The path of a schema's folder; the catalog has it as a URI, with blanks as %20."""
    location = spark.catalog.getDatabase(quoted_name(schema)).locationUri
    return str(hadoop_path(spark._jvm, java(spark._jvm, "java.net.URI")(location)).toString())


def drop(spark: "SparkSession", path: str, idle_hours: float = 0) -> None:
    """Removes a folder in which a run staged rows, unless it changed within these hours.

    Spark would not notice that files are gone which tasks of a living run have written.

    Raises:
        ValueError: its name is not one that only a run creates.
    """
    if not STAGED.search(path):
        raise ValueError(f"{path} is not a folder in which a run of dbt_delta staged rows")
    system, place = open_path(spark, path)
    if not idle_hours or _is_idle(system, place, time.time() - idle_hours * 3600):
        system.delete(place, True)


def _is_idle(system: Any, place: Any, since: float) -> bool:
    """Whether a folder and its files are as they were at that time; not if they cannot be read."""
    try:
        newest = system.getFileStatus(place).getModificationTime()
        files = system.listFiles(place, True)
        while newest < since * 1000 and files.hasNext():
            newest = max(newest, files.next().getModificationTime())
    except Exception as error:
        logger.debug(f"{place} cannot be listed, and stays: {error}")
        return False
    return newest < since * 1000


def unreadable_names(spark: "SparkSession", path: str) -> list[str]:
    """The names in a folder of this machine by which Java opens no file, as Python shows bytes.

    Names are bytes. What is no text by the JVM's locale Spark leaves out of its lists, without an
    error. Names of hidden files do not matter. Empty for folders elsewhere, or that are not there.
    """
    system, place = open_path(spark, path)
    if system.getUri().getScheme() != "file":
        return []
    encoding = spark._jvm.java.lang.System.getProperty("sun.jnu.encoding")
    try:
        with os.scandir(os.fsencode(place.toUri().getPath())) as entries:
            names = [entry.name for entry in entries if entry.is_file()]
    except OSError:
        return []
    return sorted(
        repr(name)[2:-1] for name in names if not _is_hidden(name) and not _is_text(name, encoding)
    )


def _is_hidden(name: bytes) -> bool:
    return name.startswith(b".") or (name.startswith(b"_") and b"=" not in name)


def _is_text(name: bytes, encoding: str) -> bool:
    try:
        name.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def open_path(spark: "SparkSession", path: str) -> tuple[Any, Any]:
    """The file system of a path, and the path, as Hadoop's objects."""
    place = hadoop_path(spark._jvm, path)
    return place.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()), place


def read(jvm: Any, system: Any, path: Any) -> bytes:
    """The content of a small file, by its file system and path as of ``open_path``."""
    stream = system.open(path)
    try:
        return bytes(java(jvm, "org.apache.commons.io.IOUtils").toByteArray(stream))
    finally:
        stream.close()
